import { afterEach } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";
import type { McpSession } from "../../src/session/session.ts";
import {
  type AuthorizationOptions,
  type AuthorizationStub,
  authorizationServer,
  type ProtectedOptions,
  type ProtectedServer,
  protectedServer,
} from "../ground/authorization-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function afterwards<T>(thing: T, cleanup: () => Promise<unknown>): T {
  cleanups.push(cleanup);
  return thing;
}

type Port = NonNullable<Parameters<typeof createSession>[2]>;

export interface Place {
  readonly authorization: AuthorizationStub;
  readonly server: ProtectedServer;
  readonly home: Home;
  readonly session: McpSession;
  /** Another session over the same home, as another process would have it. */
  open(port?: Port): McpSession;
  /** Signs in by a browser that does as it is told. */
  signIn(): Promise<void>;
}

export interface PlaceOptions {
  readonly authorization?: AuthorizationOptions;
  readonly server?: Omit<ProtectedOptions, "authorization">;
  /** Of the entry `s`. */
  readonly entry?: object;
  readonly env?: Record<string, string>;
}

/** A home with one server, `s`, that wants a sign-in, in `mcp.json`. */
export async function place(options: PlaceOptions = {}): Promise<Place> {
  const authorization = await authorizationServer(options.authorization);
  afterwards(authorization, () => authorization.close());
  const server = await protectedServer({ ...options.server, authorization });
  afterwards(server, () => server.close());
  const { home, open } = await homeOf(server.url, options);
  const session = open();
  const signIn = async () => {
    const flow = await session.signIn("s").start();
    await browse(flow.url);
    await flow.done;
  };
  return { authorization, server, home, session, open, signIn };
}

/** A home with the server `s` at that address, and sessions over it. */
export async function homeOf(
  url: string,
  { entry, env: added }: Pick<PlaceOptions, "entry" | "env"> = {},
): Promise<Pick<Place, "home" | "open">> {
  const home = await temporaryHome({ mcp: { mcpServers: { s: { url, ...entry } } }, ...(added && { env: added }) });
  afterwards(home, () => home.remove());
  const open = (port?: Port): McpSession => {
    const env = home.env();
    const session = createSession(loadConfig({ env, home: home.home }), { env, cwd: home.cwd }, port);
    return afterwards(session, () => session.close());
  };
  return { home, open };
}

/** What a browser does with an address: goes where it is sent. */
export async function browse(url: string): Promise<{ status: number; text: string; url: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text(), url: response.url };
}

/** Where the browser would be sent, without going there. */
export async function answerOf(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  await response.text();
  return response.headers.get("location") ?? "";
}

export async function call(session: McpSession, text = "hi"): Promise<string> {
  const result = await session.callTool("s", "echo", { text });
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
