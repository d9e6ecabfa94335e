import type { ServerPolicy, ServerTarget } from "../config/record.ts";
import type { HttpAuth } from "../transport/http-auth.ts";
import type { Transport } from "../transport/transport.ts";
import { containerOf } from "./container.ts";
import { inheritedEnv } from "./environment.ts";
import { MARK_VARIABLE, orphanRecord } from "./orphans.ts";

export interface Surroundings {
  /** The environment a server process inherits and variables are read from. */
  readonly env: NodeJS.ProcessEnv;
  /** Working directory of server processes that name none. */
  readonly cwd: string;
}

/** What a peer that knows the manners of language servers is told before its end [S1-55]. */
const FAREWELL = { request: "shutdown", notification: "notifications/exit" };

/** A transport for an expanded target, not opened yet. Each kind is loaded with the first server that needs it. */
export async function createTransport(
  target: ServerTarget,
  flavor: "usual" | "sse",
  policy: ServerPolicy,
  { env, cwd }: Surroundings,
  auth?: HttpAuth,
): Promise<Transport> {
  if (target.kind === "stdio") {
    const { StdioTransport } = await import("../transport/stdio.ts");
    const record = orphanRecord(env);
    const given = { ...inheritedEnv(policy.inheritEnv, env), [MARK_VARIABLE]: record.mark, ...target.env };
    const container = policy.stopContainer ? containerOf(target, given) : undefined;
    const { command, args } = container?.target ?? target;
    const transport = new StdioTransport({
      command,
      args,
      env: given,
      cwd: target.cwd ?? cwd,
      // A second try in other framing would be a second container.
      framing: container && policy.framing === "auto" ? "newline" : policy.framing,
      farewell: policy.shutdown === "polite" ? FAREWELL : undefined,
      record,
    });
    return container?.endingWith(transport) ?? transport;
  }
  if (target.kind === "sse" || flavor === "sse") {
    const { LegacySseTransport } = await import("../transport/legacy-sse.ts");
    return new LegacySseTransport({ ...target, env, auth });
  }
  const { HttpTransport } = await import("../transport/http.ts");
  return new HttpTransport({ ...target, env, auth });
}
