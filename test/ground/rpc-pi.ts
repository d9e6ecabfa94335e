import type { Home } from "./home.ts";
import type { PiEvent } from "./pi-events.ts";
import type { Ending, Host, PiOptions } from "./run-pi.ts";
import { ending, jsonLines, killGroup, startPi } from "./run-pi.ts";
import { PATIENCE_MS } from "./wait.ts";

/** A question to the person, or something shown to them (notify, setStatus, setWidget, …). */
export interface UiRequest extends PiEvent {
  readonly id: string;
  readonly method: string;
}

/** What the person answers: a text for select, input and editor, a yes or no for confirm, or neither. */
export type UiAnswer = { value: string } | { confirmed: boolean } | { cancelled: true };

export interface RpcOptions extends PiOptions {
  /** Answers dialogs; one that is not answered stays open. By default they are all dismissed. */
  dialogs?: (request: UiRequest) => UiAnswer | undefined;
}

export interface RpcPi {
  /** Everything pi wrote, in order: events, responses, requests to the person. */
  readonly events: readonly PiEvent[];
  /** What was shown to or asked of the person, in order. */
  readonly ui: readonly UiRequest[];
  readonly pid: number;
  stderr(): string;
  /** Sends a command (`{type: "get_state"}`) and resolves to its response; rejects when it says it failed. */
  send(command: { type: string; [field: string]: unknown }): Promise<PiEvent>;
  /** Lets the model work on a prompt, until it has finished. Not for slash commands: `send` these as a prompt. */
  prompt(message: string, timeoutMs?: number): Promise<void>;
  /** The first event that fits, from number `from` on (0: also those that have been). Rejects in time, or at the end of pi. */
  waitFor(what: (event: PiEvent) => boolean, from?: number, timeoutMs?: number): Promise<PiEvent>;
  answer(request: UiRequest, answer: UiAnswer): void;
  /** Ends pi as an editor does, by ending its input. */
  close(timeoutMs?: number): Promise<Ending>;
  /** Ends pi by a signal. */
  kill(signal: NodeJS.Signals): Promise<Ending>;
  [Symbol.asyncDispose](): Promise<void>;
}

const DIALOGS = ["select", "confirm", "input", "editor"];

/** Starts pi in RPC mode and waits until it takes commands. */
export async function rpcPi(host: Host, home: Home, options: RpcOptions = {}): Promise<RpcPi> {
  const child = startPi(host, home, options, ["--mode", "rpc"], "pipe");
  const events: PiEvent[] = [];
  const ui: UiRequest[] = [];
  const watchers = new Set<() => void>();
  let stderr = "";
  let ended = false;
  let commands = 0;

  child.stdout?.setEncoding("utf8");
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // Writing to a pi that has ended fails; its end is reported by what waits for it.
  child.stdin?.on("error", () => {});
  const end = ending(child, options.timeoutMs ?? 120_000).finally(() => {
    ended = true;
    for (const watcher of watchers) watcher();
  });
  const write = (message: object): void => void child.stdin?.write(`${JSON.stringify(message)}\n`);

  const answer = (request: UiRequest, given: UiAnswer): void =>
    write({ type: "extension_ui_response", id: request.id, ...given });

  jsonLines(child, (event) => {
    events.push(event);
    if (event.type === "extension_ui_request") {
      const request = event as UiRequest;
      ui.push(request);
      const given = options.dialogs === undefined ? { cancelled: true as const } : options.dialogs(request);
      if (DIALOGS.includes(request.method) && given !== undefined) answer(request, given);
    }
    for (const watcher of watchers) watcher();
  });

  const waitFor = (what: (event: PiEvent) => boolean, from = 0, timeoutMs = PATIENCE_MS): Promise<PiEvent> =>
    new Promise((resolve, reject) => {
      let seen = from;
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        watchers.delete(look);
        settle();
      };
      const fail = (why: string): void =>
        finish(() => reject(new Error(`${why} Its last words: ${stderr.slice(-2_000)}`)));
      const look = (): void => {
        for (; seen < events.length; seen++) {
          const event = events[seen];
          if (event === undefined || !what(event)) continue;
          finish(() => resolve(event));
          return;
        }
        if (ended) fail("pi ended before the event that was waited for.");
      };
      const timer = setTimeout(() => fail(`The event did not come within ${timeoutMs} ms.`), timeoutMs);
      watchers.add(look);
      look();
    });

  const send: RpcPi["send"] = async (command) => {
    const id = `command-${++commands}`;
    const from = events.length;
    write({ id, ...command });
    const response = await waitFor((event) => event.type === "response" && event.id === id, from);
    if (response.success !== true) throw new Error(`pi refused ${command.type}: ${String(response.error)}`);
    return response;
  };

  const inTime = async (ending: Promise<Ending>, timeoutMs: number): Promise<Ending> => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      killGroup(child);
    }, timeoutMs);
    const result = await ending.finally(() => clearTimeout(timer));
    return { ...result, hung: hung || result.hung };
  };

  const close = (timeoutMs = PATIENCE_MS): Promise<Ending> => {
    child.stdin?.end();
    return inTime(end, timeoutMs);
  };

  await send({ type: "get_state" });
  return {
    events,
    ui,
    pid: child.pid ?? -1,
    stderr: () => stderr,
    send,
    async prompt(message, timeoutMs) {
      const from = events.length;
      await send({ type: "prompt", message });
      await waitFor((event) => event.type === "agent_end", from, timeoutMs);
    },
    waitFor,
    answer,
    close,
    kill: (signal) => {
      child.kill(signal);
      return inTime(end, PATIENCE_MS);
    },
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
