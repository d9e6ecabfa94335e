import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { Readable, Transform, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type ClientConnection, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import type { Home } from "./home.ts";
import { HOSTS, type Host } from "./run-pi.ts";
import type { JsonObject } from "./script.ts";
import { MODEL, PROVIDER } from "./scripted-model.ts";
import { until } from "./wait.ts";

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A real adapter that makes an ACP agent of a real pi. */
export interface Adapter {
  readonly name: string;
  readonly entry: string;
  readonly pi: Host;
  /** Whether it starts pi again for a session that it has ended in favour of another. */
  readonly restarts: boolean;
}

/** Each with the pi it is made for: the newer one hangs with the older pi. */
export const ADAPTERS: readonly [Adapter, Adapter] = [
  { name: "pi-acp 0.0.34 with pi 1.6.0", entry: `${MODULES}pi-acp/dist/index.js`, pi: HOSTS[0], restarts: true },
  {
    name: "pi-acp 0.0.23 with pi 0.73.1",
    entry: `${MODULES}pi-acp-0.0.23/dist/index.js`,
    pi: HOSTS[1],
    restarts: false,
  },
];

export interface Update {
  readonly sessionId: string;
  readonly update: JsonObject & { readonly sessionUpdate: string };
}

export interface EditorOptions {
  /** Between the editor and the adapter; absent: no proxy. */
  readonly proxy?: readonly string[];
  readonly capabilities?: JsonObject;
  /** What the person answers. */
  readonly permission?: (params: JsonObject) => Promise<object> | object;
  readonly elicitation?: (params: JsonObject) => object;
}

/** An editor that a test plays, on the official SDK. */
export interface Editor {
  /** What was started: the proxy, or the adapter itself. */
  readonly child: ChildProcess;
  /** What the agent said of itself. */
  readonly agent: JsonObject;
  /** Every line between the two, in order. */
  readonly lines: readonly { readonly from: "editor" | "agent"; readonly bytes: Buffer }[];
  readonly updates: readonly Update[];
  readonly asked: readonly { readonly method: string; readonly params: JsonObject }[];
  request<Answer = JsonObject>(method: string, params: object): Promise<Answer>;
  notify(method: string, params: object): Promise<void>;
  /** Gives the session's id. */
  open(mcpServers: unknown): Promise<string>;
  /** The turn's stop reason. */
  prompt(sessionId: string, text: string): Promise<string>;
  /** All that the agent has said in a session, joined. */
  text(sessionId: string): string;
  /** Waits for a text in a session. */
  said(sessionId: string, part: string): Promise<string>;
  commands(sessionId: string): readonly string[];
  /** Closes its end, and waits until the other has ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A program that starts this pi, as `pi` on a person's path does. */
function piProgram(home: Home, { node, cli }: Host): string {
  const path = home.path("pi");
  writeFileSync(path, `#!/bin/sh\nexec '${node}' '${cli}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Makes the scripted model the one that pi uses by itself. */
export const PI_SETTINGS = { defaultProvider: PROVIDER, defaultModel: MODEL, quietStartup: true };

export async function openEditor(home: Home, adapter: Adapter, options: EditorOptions = {}): Promise<Editor> {
  const pi = piProgram(home, adapter.pi);
  const agent = [adapter.pi.node, adapter.entry];
  const proxied = [process.execPath, CLI, "acp", "--pi", pi, ...(options.proxy ?? []), "--", ...agent];
  return playEditor(home, options.proxy === undefined ? agent : proxied, options, { PI_ACP_PI_COMMAND: pi });
}

/** Starts an agent, or the proxy before one, and makes its acquaintance. */
export async function playEditor(
  home: Home,
  [program = "", ...args]: readonly string[],
  { capabilities = {}, permission, elicitation }: EditorOptions = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Editor> {
  const child = spawn(program, args, { cwd: home.cwd, env: home.env(env), stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const updates: Update[] = [];
  const asked: { method: string; params: JsonObject }[] = [];
  const app = client({ name: "test-editor" })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      const request = params as unknown as JsonObject;
      asked.push({ method: "permission", params: request });
      return (await (permission?.(request) ?? { outcome: { outcome: "cancelled" } })) as never;
    })
    .onRequest(
      "elicitation/create",
      (params) => params as JsonObject,
      async ({ params }) => {
        asked.push({ method: "elicitation", params });
        return elicitation?.(params) ?? { action: "cancel" };
      },
    )
    .onNotification("*", ({ params }) => {
      const update = params as Update;
      if (update?.update !== undefined) updates.push(update);
    })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params as unknown as Update));
  const lines: { from: "editor" | "agent"; bytes: Buffer }[] = [];
  const output = recorder("editor", lines);
  output.pipe(child.stdin);
  const input = Readable.toWeb(child.stdout.pipe(recorder("agent", lines))) as ReadableStream<Uint8Array>;
  const connection: ClientConnection = app.connect(ndJsonStream(Writable.toWeb(output), input));
  const request = <Answer>(method: string, params: object) => connection.agent.request<Answer>(method, params);
  const close = async () => {
    output.end();
    await ended;
    connection.close();
  };
  const info = await request<JsonObject>("initialize", {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name: "test-editor", version: "1" },
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${stderr}`);
  });
  const text = (sessionId: string) =>
    updates
      .filter((each) => each.sessionId === sessionId && each.update.sessionUpdate === "agent_message_chunk")
      .map(({ update }) => (update.content as { text?: string }).text ?? "")
      .join("");
  return {
    child,
    agent: info,
    lines,
    updates,
    asked,
    request,
    notify: (method, params) => connection.agent.notify(method, params),
    open: async (mcpServers) => {
      const params = { cwd: home.cwd, mcpServers };
      return (await request<{ sessionId: string }>("session/new", params)).sessionId;
    },
    prompt: async (sessionId, said) => {
      const params = { sessionId, prompt: [{ type: "text", text: said }] };
      return (await request<{ stopReason: string }>("session/prompt", params)).stopReason;
    },
    text,
    said: (sessionId, part) => until(`"${part}"`, () => (text(sessionId).includes(part) ? text(sessionId) : undefined)),
    commands: (sessionId) => {
      const last = updates.findLast(
        (each) => each.sessionId === sessionId && each.update.sessionUpdate === "available_commands_update",
      );
      return ((last?.update.availableCommands ?? []) as { name: string }[]).map(({ name }) => name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Passes bytes on, and takes down the lines. */
function recorder(from: "editor" | "agent", lines: { from: "editor" | "agent"; bytes: Buffer }[]): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
        lines.push({ from, bytes: rest.subarray(0, end) });
        rest = rest.subarray(end + 1);
      }
      done(null, chunk);
    },
  });
}
