import { createHash } from "node:crypto";
import { type Pin, type PinChange, pinChanges, pinOf } from "../catalog/pins/definition.ts";
import { openPins, type PinStore } from "../catalog/pins/store.ts";
import { listSome } from "../config/list-some.ts";
import type { ConfigLayer, ServerConfig } from "../config/record.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError, messageOf } from "../error.ts";
import type { ToolDefinition } from "../protocol/types.ts";

const NAME_CHARS = 100;
const MAX_NAMES = 10;
/** One word in every shell, and no option. */
const PLAIN_NAME = /^[\w.][\w.-]*$/;
/** Layers that are no files. */
const HANDED_OVER: ReadonlySet<ConfigLayer> = new Set<ConfigLayer>(["editor", "environment"]);
/** A server that goes back and forth between so many lists is heard of again. */
const MAX_TOLD = 20;

/**
 * What a person has accepted of one server's tools: the first listing ever, and what was accepted since. A tool that is
 * another one later, or was not there, is told once; with `pin: "strict"` it is also neither shown nor called.
 */
export class ServerPins {
  readonly #config: () => ServerConfig;
  readonly #folder: string | undefined;
  readonly #tell: (text: string) => void;
  #store: PinStore | undefined;
  #storeKey = "";
  #writing: Promise<unknown> = Promise.resolve();
  #notice: string | undefined;
  #last:
    | { readonly tools: readonly ToolDefinition[]; readonly shown: readonly ToolDefinition[]; readonly key: string }
    | undefined;

  /** `folder`: of the records; without one nothing is pinned. `tell`: for a sentence a person is to read. */
  constructor(config: () => ServerConfig, folder: string | undefined, tell: (text: string) => void) {
    this.#config = config;
    this.#folder = folder;
    this.#tell = tell;
  }

  /** What is said of the last listing. */
  get notices(): readonly string[] {
    return this.#notice === undefined ? [] : [this.#notice];
  }

  /** Whether its tools are recorded at all. */
  get isOn(): boolean {
    return this.#open() !== undefined;
  }

  /** Whether anything was ever accepted. Throws McpServerError where that cannot be read. */
  get isPinned(): boolean {
    try {
      return this.#open()?.read() !== undefined;
    } catch (error) {
      throw this.#error(messageOf(error));
    }
  }

  /** Takes a listing: accepts the first one, and tells of what differs in a later one. */
  check(tools: readonly ToolDefinition[]): void {
    const store = this.#open();
    if (store === undefined || tools.length === 0) return;
    try {
      const accepted = store.read();
      if (accepted === undefined) {
        const all = new Map(tools.map((tool): [string, Pin] => [tool.name, pinOf(tool)]));
        this.#write(store.update((now) => now ?? { tools: all, told: [] }));
        return;
      }
      const changes = pinChanges(accepted.tools, tools);
      this.#notice = changes.length === 0 ? undefined : this.#sentence(changes);
      if (this.#notice === undefined) return;
      const told = digest(changes);
      if (accepted.told.includes(told)) return;
      this.#write(store.update((now = accepted) => ({ ...now, told: [...now.told, told].slice(-MAX_TOLD) })));
      this.#tell(this.#notice);
    } catch (error) {
      this.#notice = this.#error(messageOf(error)).message;
      this.#tell(this.#notice);
    }
  }

  /** What is not as it was accepted. Throws McpServerError where the record cannot be read. */
  changes(tools: readonly ToolDefinition[]): readonly PinChange[] {
    try {
      const accepted = this.#open()?.read();
      return accepted === undefined ? [] : pinChanges(accepted.tools, tools);
    } catch (error) {
      throw this.#error(messageOf(error));
    }
  }

  /** Whether its changed tools wait for a person. */
  get isStrict(): boolean {
    return this.#config().policy.pin === "strict" && this.#open() !== undefined;
  }

  /**
   * Throws McpServerError `denied` for a tool that waits. A model reads it and may have a shell, so it holds no command that
   * accepts, and none with a word of the server's in it.
   */
  assertAccepted(tool: ToolDefinition): void {
    const [change] = this.changes([tool]);
    if (change === undefined) return;
    const shown = sanitizeLine(tool.name, NAME_CHARS);
    const why = change.kind === "new" ? "is new since its tools were accepted" : "has changed since it was accepted";
    const how = `Do not try it again; only the person can accept it, with \`/mcp\` or ${this.#command("pins")}`;
    throw this.#error(`its tool \`${shown}\` ${why} and is not called before a person accepts it. ${how}`);
  }

  /** For a tool that is called and in no list, so that there is no definition to accept. */
  unseen(tool: string): McpServerError {
    const shown = sanitizeLine(tool, NAME_CHARS);
    return this.#error(
      `its tool \`${shown}\` is in no list of its tools, so nobody can have accepted it, and is not called. Do not try it again`,
    );
  }

  /** Tools as a model may see them: of one that waits it reads no word of the server's. The same list where none waits. */
  shown(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    if (!this.isStrict) return tools;
    const waiting = this.#waiting(tools);
    if (waiting.length === 0) return tools;
    const key = waiting.join("\n");
    if (this.#last?.tools !== tools || this.#last.key !== key) {
      const shown = tools.map((tool) => (waiting.includes(tool.name) ? withoutWords(tool) : tool));
      this.#last = { tools, shown, key };
    }
    return this.#last.shown;
  }

  /** One of them. */
  shownTool(tool: ToolDefinition): ToolDefinition {
    return this.isStrict && this.#waiting([tool]).length > 0 ? withoutWords(tool) : tool;
  }

  /** For tools that are to be accepted and were never listed. */
  unlisted(): McpServerError {
    return this.#error(
      `its tools were never listed, so there is nothing to accept; ${this.#command("list")} lists them`,
    );
  }

  /**
   * Accepts some tools as they are, or all of them; those that are gone are forgotten, which only a complete list tells.
   * Rejects with McpServerError.
   */
  async accept(
    tools: readonly ToolDefinition[],
    names: readonly string[] | undefined,
    isComplete: boolean,
  ): Promise<void> {
    const store = this.#open();
    if (store === undefined) throw this.#error('its tools are not pinned (`pin` is "off")');
    const there = new Map(tools.map((tool): [string, Pin] => [tool.name, pinOf(tool)]));
    try {
      await store.update((now) => {
        if (names === undefined) {
          return { tools: isComplete ? there : new Map([...(now?.tools ?? []), ...there]), told: [] };
        }
        const chosen = names.flatMap((name): [string, Pin][] => {
          const pin = there.get(name);
          return pin ? [[name, pin]] : [];
        });
        return { told: now?.told ?? [], tools: new Map([...(now?.tools ?? []), ...chosen]) };
      });
    } catch (error) {
      throw this.#error(messageOf(error));
    }
    this.#notice = undefined;
  }

  /** Resolves when everything is written. Never rejects. */
  async written(): Promise<void> {
    await this.#writing;
  }

  #waiting(tools: readonly ToolDefinition[]): string[] {
    try {
      return this.changes(tools).map(({ tool }) => tool);
    } catch {
      return tools.map(({ name }) => name);
    }
  }

  #open(): PinStore | undefined {
    const config = this.#config();
    const { name, policy } = config;
    if (this.#folder === undefined || policy.pin === "off") return undefined;
    const place = placeOf(config);
    const key = `${name}\n${place}`;
    if (this.#store === undefined || this.#storeKey !== key) {
      this.#store = openPins(this.#folder, name, place);
      this.#storeKey = key;
    }
    return this.#store;
  }

  /** What cannot be written is noticed again next time. */
  #write(written: Promise<void>): void {
    this.#writing = Promise.all([this.#writing, written.catch(() => {})]);
  }

  #sentence(changes: readonly PinChange[]): string {
    const { name, policy } = this.#config();
    const of = (kind: PinChange["kind"]) => changes.filter((each) => each.kind === kind).map(({ tool }) => tool);
    const part = (names: string[], word: string) =>
      names.length === 0
        ? []
        : `${word} ${listSome(
            names.map((tool) => sanitizeLine(tool, NAME_CHARS)),
            MAX_NAMES,
          )}`;
    const what = [part(of("changed"), "changed"), part(of("new"), "new")].flat().join("; ");
    const wait = policy.pin === "strict" ? ", and these are not called until then" : "";
    const where = `\`/mcp\` or ${this.#command("pins")}`;
    return `MCP server \`${name}\` has other tools than were accepted: ${what}. ${where} shows the differences, and only the person can accept them${wait}.`;
  }

  /** A command on this server, for a person to type: a name that a shell would read otherwise stands in none. */
  #command(words: string): string {
    const { name } = this.#config();
    return PLAIN_NAME.test(name) ? `\`pi-mcp ${words} ${name}\`` : `\`pi-mcp ${words}\` with its name`;
  }

  #error(text: string): McpServerError {
    const { name } = this.#config();
    return new McpServerError(name, "denied", `MCP server \`${name}\`: ${text}`);
  }
}

/**
 * Where a server is configured, for its record. What is handed over with a session stands in no file, and has the same place
 * in every project: there the program or the address is what tells two servers of one name apart. Hashed, since the record
 * names it and arguments may be secret.
 */
function placeOf({ source, fields, target }: ServerConfig): string {
  const isHandedOver = Object.values(fields).some(({ file, layer }) => file === source.file && HANDED_OVER.has(layer));
  if (!isHandedOver) return source.file;
  const parts =
    target.kind === "stdio" ? [target.kind, target.command, target.args, target.cwd ?? ""] : [target.kind, target.url];
  return `${source.file}\n${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

function withoutWords({ name, annotations, raw: _ }: ToolDefinition): ToolDefinition {
  const description = "Not to be used: it is not as a person has accepted it.";
  const { destructiveHint = true } = annotations;
  const inputSchema = { type: "object", properties: {} };
  const raw = { name, description, inputSchema };
  return { name, description, inputSchema, annotations: { destructiveHint }, raw };
}

function digest(changes: readonly PinChange[]): string {
  const all = changes.map(({ tool, now }) => [tool, now]);
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 32);
}
