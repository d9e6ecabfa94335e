import type { PiApi, PiContext, PiView } from "../../src/hosts/pi/api.ts";
import { mcpCommand } from "../../src/hosts/pi/command.ts";
import { PiHost } from "../../src/hosts/pi/host.ts";
import type { Home } from "../ground/home.ts";

const PLAIN = { fg: (_color: string, text: string) => text, bold: (text: string) => text };

export interface Person {
  /** Answers to `select`, `input` and `editor`, in order; an answer that is not there is a dismissal. */
  readonly answers?: readonly (string | ((told: readonly string[]) => Promise<string | undefined>))[];
  /** Works at what is shown in the terminal; without it there is none. */
  readonly atTerminal?: (view: PiView, screen: () => string) => void | Promise<void>;
  readonly hasUI?: boolean;
}

/** `/mcp` with a person who looks on, in a session of its own. */
export async function withCommand(
  home: Pick<Home, "env" | "cwd">,
  { answers = [], atTerminal, hasUI = true }: Person,
  work: (
    mcp: (args: string) => Promise<string>,
    more: { host: PiHost; asked: string[]; told: string[]; statuses: (string | undefined)[]; errors: string[] },
  ) => Promise<void>,
): Promise<void> {
  const before = { ...process.env };
  const env = home.env();
  Object.assign(process.env, env);
  const told: string[] = [];
  const asked: string[] = [];
  const statuses: (string | undefined)[] = [];
  const left = [...answers];
  const answer = (title: string) => {
    asked.push(title);
    const next = left.shift();
    return typeof next === "function" ? next(told) : Promise.resolve(next);
  };
  const custom: PiContext["ui"]["custom"] = (factory) =>
    new Promise((resolve) => {
      const view = factory(
        { terminal: { rows: 40 }, requestRender() {} },
        PLAIN,
        { matches: () => false },
        (result) => {
          view.dispose?.();
          resolve(result);
        },
      );
      void atTerminal?.(view, () => view.render(100).join("\n"));
    });
  const ui = {
    notify: (text: string) => void told.push(text),
    select: (title: string, options: string[]) =>
      answer(title).then((wanted) => options.find((each) => wanted !== undefined && each.startsWith(wanted))),
    input: answer,
    editor: answer,
    setStatus: (_key: string, text: string | undefined) => void statuses.push(text),
    ...(atTerminal && { custom }),
  };
  const ctx = { cwd: home.cwd, hasUI, ui } as PiContext;
  const errors: string[] = [];
  const { error } = console;
  console.error = (text: string) => void errors.push(text);
  const host = new PiHost({
    registerTool() {},
    registerCommand() {},
    getActiveTools: () => [],
    getAllTools: () => [],
    setActiveTools() {},
    on() {},
  } as unknown as PiApi);
  host.begin(ctx);
  try {
    const command = mcpCommand(host);
    const mcp = async (args: string) => {
      const from = told.length;
      await command.handler(args, ctx);
      return told.slice(from).join("\n");
    };
    await work(mcp, { host, asked, told, statuses, errors });
  } finally {
    await host.end();
    console.error = error;
    for (const key of Object.keys(env)) if (before[key] === undefined) delete process.env[key];
    Object.assign(process.env, before);
  }
}
