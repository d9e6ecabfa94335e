import { textWidth } from "../../../content/width.ts";
import { describeError } from "../../../error.ts";
import type { PiColor, PiComponent } from "../api.ts";
import { paintLine } from "../render-line.ts";
import { detailLines } from "./detail.ts";
import { type Line, paragraph, rule, titleLine, windowStart } from "./frame.ts";
import { type Key, readKey } from "./keys.ts";
import { listLines } from "./list.ts";
import type { PanelOptions } from "./options.ts";
import { isUsed, type Row, rowsOf } from "./rows.ts";
import { HELP, HINTS } from "./texts.ts";

/** Of the terminal's lines, those pi keeps for itself. */
const ROWS_OF_PI = 4;
const LEAST_ROWS = 7;
/** The words of a server come without being announced. */
const LOOK_EVERY_MS = 1_000;

type Page =
  | { readonly kind: "detail"; readonly server: string }
  | {
      readonly kind: "text";
      readonly title: string;
      readonly text: string;
      /** What `y` does, once the end was on the screen. */
      readonly accept?: () => Promise<string>;
    };

/** The servers in a terminal: a list, and a page for each. Draws anew whenever the session says that something changed. */
export class McpPanel implements PiComponent {
  /** pi's full screen leaves the page keys to it. */
  readonly capturesViewportInput = true;
  readonly #options: PanelOptions;
  readonly #unwatch: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #pages: Page[] = [];
  readonly #signIns = new Map<string, string | undefined>();
  /** Tools that are not as they were accepted, by server; to be counted anew after any change. */
  readonly #changes = new Map<string, number>();
  #welcomeText: string | undefined;
  #isFiltering = false;
  /** Texts whose end was on the screen. */
  readonly #read = new WeakSet<Page>();
  #scroll = 0;
  /** The part of the page to go to: where it begins, its drawing tells. */
  #jump: "tools" | "log" | undefined;
  #pageRows = 1;
  #isClosed = false;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#unwatch = options.session.watch(() => {
      this.#changes.clear();
      options.requestRender();
    });
    this.#timer = setInterval(() => this.#pages.length > 0 && options.requestRender(), LOOK_EVERY_MS).unref();
  }

  invalidate(): void {}

  dispose(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#unwatch();
  }

  render(width: number): string[] {
    const { theme, rows } = this.#options;
    const height = Math.max(rows() - ROWS_OF_PI, LEAST_ROWS);
    const page = this.#pages.at(-1);
    const lines = page === undefined ? this.#list(width, height) : this.#page(page, width, height);
    return lines.map((line) => paintLine(line, width, theme));
  }

  handleInput(data: string): void {
    const key = readKey(data, this.#isFiltering ? undefined : this.#options.keys);
    if (key === undefined) return;
    if (typeof key === "string") {
      if (this.#isFiltering) this.#filter(key);
      else this.#move(key);
    } else if (key.isPasted) {
      // A text from elsewhere is no command.
      if (this.#isFiltering) this.#filter(key);
    } else {
      for (const letter of key.text) {
        if (this.#isFiltering) this.#filter({ text: letter });
        else this.#letter(letter);
      }
    }
    this.#options.requestRender();
  }

  #list(width: number, height: number): Line[] {
    const { view, folders } = this.#options;
    const all = this.#rows();
    const rows = this.#shown(all);
    const selected = this.#selectedOf(rows);
    const ready = all.filter(({ state }) => state === "ready").length;
    const filter: Line[] =
      this.#isFiltering || view.filter
        ? [
            [
              { text: ` / ${view.filter ?? ""}`, color: "accent" },
              { text: this.#isFiltering ? "▏" : "", color: "accent" },
            ],
          ]
        : [];
    const message = this.#message(width, selected);
    const trouble = selected?.trouble === undefined ? [] : paragraph(selected.trouble, width, "muted", "    ", 3);
    const room = height - 3 - filter.length - message.length;
    const troubleLines = trouble.slice(0, Math.max(room - 3, 0));
    const table = room - troubleLines.length;
    const start = windowStart(selected === undefined ? 0 : rows.indexOf(selected), table, rows.length);
    const shown = rows.slice(start, start + table);
    const isPart = shown.length < rows.length;
    const range = isPart ? `${start + 1}-${start + shown.length} of ${rows.length}` : `${ready} of ${all.length} ready`;
    const body: Line[] =
      all.length === 0
        ? paragraph(this.#welcome(), width, "text", " ", room)
        : rows.length === 0
          ? [[{ text: " Nothing fits the filter.", color: "muted" }]]
          : listLines(shown, selected?.name, width, folders);
    const at = selected === undefined ? body.length : shown.indexOf(selected) + 1;
    return [
      titleLine("MCP servers", all.length === 0 ? "" : range, width),
      ...filter,
      ...body.slice(0, at),
      ...troubleLines,
      ...body.slice(at),
      ...message,
      this.#hint(all.length === 0 ? "empty" : this.#isFiltering ? "filter" : "list", width),
      rule(width),
    ];
  }

  #page(page: Page, width: number, height: number): Line[] {
    const { session } = this.#options;
    const row = page.kind === "detail" ? this.#rows().find(({ name }) => name === page.server) : undefined;
    const message = this.#message(width, row);
    let lines: readonly Line[] = [];
    if (page.kind === "text") lines = paragraph(page.text, width - 2, "text", " ", Number.POSITIVE_INFINITY);
    else if (row === undefined) lines = [[{ text: " It is not configured any more.", color: "muted" }]];
    else {
      const detail = detailLines(session, row, this.#signIns.get(row.name), width);
      lines = detail.lines;
      if (this.#jump !== undefined) this.#scroll = detail.parts[this.#jump] + 1;
      this.#jump = undefined;
    }
    const room = Math.max(height - 3 - message.length, 1);
    this.#pageRows = room;
    this.#scroll = Math.max(0, Math.min(this.#scroll, lines.length - room));
    const shown = lines.slice(this.#scroll, this.#scroll + room);
    if (this.#scroll + shown.length >= lines.length) this.#read.add(page);
    const range = lines.length > room ? `${this.#scroll + 1}-${this.#scroll + shown.length} of ${lines.length}` : "";
    return [
      titleLine(page.kind === "text" ? page.title : page.server, range, width),
      ...shown,
      ...message,
      this.#hint(
        page.kind === "text" && page.accept !== undefined ? (this.#read.has(page) ? "accept" : "read") : page.kind,
        width,
      ),
      rule(width),
    ];
  }

  #hint(which: keyof typeof HINTS, width: number): Line {
    const hints = [...HINTS[which]];
    const text = () => ` ${hints.join(" · ")}`;
    while (hints.length > 1 && textWidth(text()) > width) hints.splice(-2, 1);
    return [{ text: text(), color: "dim" }];
  }

  /** Not what is said of the server anyway. */
  #message(width: number, row: Row | undefined): Line[] {
    const { message } = this.#options.view;
    return message === undefined || (row?.trouble !== undefined && message.text.startsWith(row.trouble))
      ? []
      : paragraph(message.text, width, message.color, " ", 3);
  }

  /** Looked for once: it means reading the files of many programs. */
  #welcome(): string {
    this.#welcomeText ??= this.#options.welcome();
    return this.#welcomeText;
  }

  #rows(): Row[] {
    const { session, actions } = this.#options;
    return rowsOf(session, (server) => {
      const known = this.#changes.get(server) ?? actions.changes(server).count;
      this.#changes.set(server, known);
      return known;
    });
  }

  #shown(all: readonly Row[]): Row[] {
    const words = (this.#options.view.filter ?? "").toLowerCase();
    return all.filter(({ name, state }) => `${name} ${state}`.toLowerCase().includes(words));
  }

  /** The one that is marked; the first where that is gone. */
  #selectedOf(rows: readonly Row[]): Row | undefined {
    return rows.find(({ name }) => name === this.#options.view.selected) ?? rows[0];
  }

  #filter(key: Key): void {
    const { view } = this.#options;
    const filter = view.filter ?? "";
    if (key === "enter") this.#isFiltering = false;
    else if (key === "escape") {
      this.#isFiltering = false;
      view.filter = "";
    } else if (key === "backspace") view.filter = [...filter].slice(0, -1).join("");
    else if (typeof key === "string") this.#move(key);
    else view.filter = (filter + key.text.replace(/[\r\n].*$/s, "")).slice(0, 200);
  }

  #move(key: Exclude<Key, object>): void {
    const page = this.#pages.at(-1);
    if (page === undefined) delete this.#options.view.message;
    if (key === "escape") this.#back();
    if (key === "enter" && page === undefined) this.#open();
    if (key === "escape" || key === "enter" || key === "backspace") return;
    const step = { up: -1, down: 1, pageUp: -this.#pageRows, pageDown: this.#pageRows, home: -1e9, end: 1e9 }[key];
    if (page !== undefined) {
      this.#scroll += step;
      return;
    }
    const rows = this.#shown(this.#rows());
    const selected = this.#selectedOf(rows);
    const at = selected === undefined ? 0 : rows.indexOf(selected);
    const span = key === "pageUp" || key === "pageDown" ? Math.sign(step) * 10 : step;
    this.#options.view.selected = rows[Math.max(0, Math.min(at + span, rows.length - 1))]?.name;
  }

  #back(): void {
    const { view, leave } = this.#options;
    delete view.message;
    this.#scroll = 0;
    if (this.#pages.pop() !== undefined) return;
    if (view.filter) view.filter = "";
    else leave(undefined);
  }

  #open(): void {
    const row = this.#current();
    if (row === undefined) return;
    this.#push({ kind: "detail", server: row.name });
    void this.#lookAtSignIn(row.name);
  }

  #push(page: Page): void {
    this.#pages.push(page);
    this.#scroll = 0;
  }

  #current(): Row | undefined {
    const page = this.#pages.findLast(({ kind }) => kind === "detail");
    const rows = this.#rows();
    if (page?.kind === "detail") return rows.find(({ name }) => name === page.server);
    return this.#selectedOf(this.#shown(rows));
  }

  readonly #moves: Readonly<Record<string, () => void>> = {
    j: () => this.#move("down"),
    k: () => this.#move("up"),
    g: () => this.#move("home"),
    G: () => this.#move("end"),
    q: () => this.#back(),
  };

  /** A text is read, and answered if it asks something: no letter does anything else there. */
  #letterOnText(letter: string, page: Extract<Page, { kind: "text" }>): void {
    const { accept } = page;
    if (accept !== undefined && letter === "n") this.#back();
    else if (accept !== undefined && letter === "y" && this.#read.has(page)) {
      this.#pages.pop();
      void this.#do("accepting", accept);
    } else this.#moves[letter]?.();
  }

  #letter(letter: string): void {
    const { leave } = this.#options;
    const anywhere: Readonly<Record<string, () => void>> = {
      ...this.#moves,
      "/": () => {
        this.#isFiltering = this.#pages.length === 0;
      },
      "?": () => this.#push({ kind: "text", title: "Help", text: HELP }),
      a: () => leave({ kind: "trust" }),
      n: () => leave({ kind: "add" }),
      m: () => leave({ kind: "import" }),
    };
    const page = this.#pages.at(-1);
    if (page?.kind === "text") {
      this.#letterOnText(letter, page);
      return;
    }
    const row = this.#current();
    if (this.#pages.length === 0) this.#options.view.selected = row?.name;
    if (anywhere[letter] !== undefined) anywhere[letter]();
    else if (row !== undefined) this.#act(letter, row);
  }

  /** Does something with one server. */
  #act(letter: string, row: Row): void {
    const { actions, leave } = this.#options;
    const { name } = row;
    const ofUsed: Readonly<Record<string, () => void>> = {
      r: () => void this.#do(`connecting ${name}`, () => actions.reconnect(name)),
      i: () => leave({ kind: "login", server: name }),
      o: () => void this.#do(`signing out of ${name}`, () => this.#signOut(name)),
      c: () => void this.#check(name),
      p: () => this.#showChanges(row),
    };
    if (letter === "d" || letter === " ") {
      const on = row.state === "disabled";
      void this.#do(`switching ${name} ${on ? "on" : "off"}`, () => actions.switchTo(name, on));
    } else if (letter === "t" || letter === "l") {
      if (this.#pages.length === 0) this.#open();
      this.#jump = letter === "t" ? "tools" : "log";
    } else if (ofUsed[letter] !== undefined && !isUsed(row)) {
      this.#say(`${name}: ${row.trouble ?? "it is not in use"}`, "warning");
    } else ofUsed[letter]?.();
  }

  #showChanges({ name, changes }: Row): void {
    if (changes === 0) this.#say(`The tools of ${name} are as you accepted them.`, "muted");
    else {
      const { text, accept } = this.#options.actions.changes(name);
      this.#push({ kind: "text", title: `Changed tools of ${name}`, text, accept });
    }
  }

  async #signOut(server: string): Promise<string> {
    const said = await this.#options.actions.logout(server);
    await this.#lookAtSignIn(server);
    return said;
  }

  async #check(server: string): Promise<void> {
    await this.#do(`checking ${server}`, async () => {
      const text = await this.#options.actions.check(server);
      this.#push({ kind: "text", title: `Check of ${server}`, text });
      return undefined;
    });
  }

  /** Does what takes a while, and says what came of it. Never rejects. */
  async #do(what: string, work: () => Promise<string | undefined>): Promise<void> {
    this.#say(`${what}…`, "muted");
    try {
      const said = await work();
      if (said === undefined) delete this.#options.view.message;
      else this.#say(said, "success");
    } catch (error) {
      this.#say(describeError(error), "error");
    }
    if (!this.#isClosed) this.#options.requestRender();
  }

  #say(text: string, color: PiColor): void {
    this.#options.view.message = { text, color };
  }

  async #lookAtSignIn(server: string): Promise<void> {
    this.#signIns.set(server, await this.#options.actions.signInState(server).catch(() => undefined));
    if (!this.#isClosed) this.#options.requestRender();
  }
}
