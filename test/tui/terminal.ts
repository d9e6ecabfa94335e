import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Home } from "../ground/home.ts";
import { EXTENSION, type Host } from "../ground/run-pi.ts";
import { MODEL, PROVIDER } from "../ground/scripted-model.ts";
import { until } from "../ground/wait.ts";

/** Kept for a person to look at. */
const SCREENS = fileURLToPath(new URL("../../test-output/screens/", import.meta.url));

/** A start on a busy machine is slow. */
const PATIENCE_MS = 45_000;

/** What a pi that has ended has said last stays on the screen; keys come as in a modern terminal, and Escape at once. */
const SETTINGS = `set -g remain-on-exit on
set -g extended-keys on
set -sg escape-time 0
set -g status off
`;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A real pi in a terminal that nobody sees. */
export interface Terminal {
  /** What is on the screen now, without the blanks at the ends of lines. */
  screen(): string;
  /** The first screen that fits. What was on it is kept under a name, if one is given. */
  until(what: string | RegExp, name?: string): Promise<string>;
  /** The first screen on which it is no more. */
  untilGone(what: string | RegExp): Promise<string>;
  /** Types a text as it is. */
  type(text: string): void;
  /** Types a line, sees that it is there, and sends it: an Enter that comes with the text may be taken for a part of it. */
  submit(line: string): Promise<void>;
  /** Presses keys by tmux' names: `Enter`, `Escape`, `Down`, `C-o`. */
  press(...keys: string[]): void;
  /** Pastes a text as a terminal does. */
  paste(text: string): void;
  resize(size: Size): void;
  /** What was asked to be the terminal's title. */
  title(): string;
  /** Whether pi is still there. */
  isAlive(): boolean;
  /** Keeps the present screen for a person to look at. */
  keep(name: string): void;
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TerminalOptions {
  readonly size?: Size;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts pi with the extension in a terminal of its own and waits until it takes what is typed. */
export async function openTerminal(host: Host, home: Home, options: TerminalOptions = {}): Promise<Terminal> {
  const { columns, rows } = options.size ?? { columns: 110, rows: 34 };
  const socket = join(home.tmp, "tmux");
  const env = home.env({ TERM: "xterm-256color", NO_COLOR: "", ...options.env });
  const settings = join(home.tmp, "tmux.conf");
  writeFileSync(settings, SETTINGS);
  const tmux = (...args: string[]): string => {
    const run = spawnSync("tmux", ["-S", socket, "-f", settings, ...args], { env, encoding: "utf8" });
    if (run.error) throw run.error;
    return run.stdout;
  };
  const pi = [host.node, host.cli, "--provider", PROVIDER, "--model", MODEL, "-e", EXTENSION, ...(options.args ?? [])];
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", home.cwd, ...pi);

  const screen = () =>
    tmux("capture-pane", "-p")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  const keep = (name: string) => {
    mkdirSync(SCREENS, { recursive: true });
    writeFileSync(join(SCREENS, `${name} (${host.name}).txt`), `${screen()}\n`);
  };
  const fits = (text: string, what: string | RegExp) =>
    typeof what === "string" ? text.includes(what) : what.test(text);
  const wait = async (what: string | RegExp, isThere: boolean) => {
    let last = "";
    try {
      return await until(
        `the screen ${isThere ? "with" : "without"} ${what}`,
        () => {
          last = screen();
          return fits(last, what) === isThere ? last : undefined;
        },
        PATIENCE_MS,
      );
    } catch (error) {
      throw new Error(`${(error as Error).message} It shows:\n${last}`);
    }
  };
  const close = () => void tmux("kill-server");
  const terminal: Terminal = {
    screen,
    async until(what, name) {
      const found = await wait(what, true);
      if (name !== undefined) keep(name);
      return found;
    },
    untilGone: (what) => wait(what, false),
    type: (text) => void tmux("send-keys", "-l", text),
    async submit(line) {
      tmux("send-keys", "-l", line);
      const shown = line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      await wait(new RegExp(`^.{0,3}${shown}$`, "m"), true);
      tmux("send-keys", "Enter");
    },
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(text) {
      spawnSync("tmux", ["-S", socket, "load-buffer", "-"], { env, input: text });
      tmux("paste-buffer", "-p", "-d");
    },
    resize: (size) => void tmux("resize-window", "-x", String(size.columns), "-y", String(size.rows)),
    title: () => tmux("display-message", "-p", "#{pane_title}").trim(),
    isAlive: () => tmux("list-panes", "-F", "#{pane_dead}").trim() === "0",
    keep,
    close,
    [Symbol.asyncDispose]: () => Promise.resolve(close()),
  };
  // The line that says how full the context is stands below the editor as soon as it takes input.
  await terminal.until(/\d%\/200k|0\.0%/);
  return terminal;
}
