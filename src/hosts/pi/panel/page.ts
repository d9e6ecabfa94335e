import type { PiComponent, PiContext, PiTheme } from "../api.ts";
import { paintLine } from "../render-line.ts";
import { paragraph, rule, titleLine } from "./frame.ts";
import { type KeyTable, readKey } from "./keys.ts";

const ROWS_OF_PI = 4;
const LEAST_ROWS = 7;

interface PageOptions {
  readonly title: string;
  readonly text: string;
  /** What `y` does; without it the page is only read. */
  readonly yes?: string;
  rows(): number;
  requestRender(): void;
  done(answer: boolean): void;
}

/** A text that scrolls, and a question about it if there is one: it can be answered once the end was on the screen. */
function page(options: PageOptions, theme: PiTheme, keys: KeyTable): PiComponent & { handleInput(data: string): void } {
  let scroll = 0;
  let wasRead = false;
  return {
    invalidate() {},
    render(width) {
      const lines = paragraph(options.text, width - 2, "text", " ", Number.POSITIVE_INFINITY);
      const room = Math.max(options.rows() - ROWS_OF_PI, LEAST_ROWS) - 3;
      scroll = Math.max(0, Math.min(scroll, lines.length - room));
      const shown = lines.slice(scroll, scroll + room);
      wasRead ||= scroll + shown.length >= lines.length;
      const range = lines.length > room ? `${scroll + 1}-${scroll + shown.length} of ${lines.length}` : "";
      const yes = options.yes === undefined ? "" : wasRead ? `y ${options.yes} · ` : "↓ to the end first · ";
      const all = [
        titleLine(options.title, range, width),
        ...shown,
        [{ text: ` ${yes}esc ${options.yes === undefined ? "back" : "not now"}`, color: "dim" } as const],
        rule(width),
      ];
      return all.map((line) => paintLine(line, width, theme));
    },
    handleInput(data) {
      const key = readKey(data, keys);
      if (key === "escape") options.done(false);
      else if (key === "up") scroll -= 1;
      else if (key === "down") scroll += 1;
      else if (key === "pageUp") scroll -= 10;
      else if (key === "pageDown" || key === "enter") scroll += 10;
      else if (typeof key === "object" && !key.isPasted && options.yes !== undefined) {
        if (key.text === "y" && wasRead) options.done(true);
        if (key.text === "n") options.done(false);
      }
      options.requestRender();
    },
  };
}

/** The harmless answer stands first: that is what a stray Enter takes. */
const LATER = "Not now";

/**
 * Of a text in a dialog that does not scroll. What is longer could have its dangerous part where nobody looks.
 */
const MAX_DIALOG_CHARS = 4_000;

/**
 * Asks about a text that a person is to read in full: on a page that scrolls, or in a dialog where there is none. Undefined
 * where nobody can be asked, or nobody could read all of it.
 */
export async function askAbout(ctx: PiContext, title: string, text: string, yes: string): Promise<boolean | undefined> {
  let isShown = false;
  const answer = await ctx.ui.custom?.<boolean>((tui, theme, keys, done) => {
    isShown = true;
    const requestRender = () => tui.requestRender();
    return page({ title, text, yes, rows: () => tui.terminal.rows, requestRender, done }, theme, keys);
  });
  if (isShown) return answer === true;
  if (!ctx.hasUI || text.length > MAX_DIALOG_CHARS) return undefined;
  return (await ctx.ui.select(`${title}\n\n${text}`, [LATER, yes])) === yes;
}
