import { join } from "node:path";
import { programName } from "../config/package-runner.ts";
import { agentDir, personOf } from "../config/paths.ts";
import type { ServerConfig, ServerTarget, StdioTarget } from "../config/record.ts";
import { createRedactor, type Redactor } from "../content/redact.ts";
import type { HttpAuth } from "../transport/http-auth.ts";
import type { Transport } from "../transport/transport.ts";
import { around } from "./around.ts";
import { containerOf } from "./container.ts";
import { inheritedEnv } from "./environment.ts";
import type { NpxStart } from "./npx/resolve.ts";
import { MARK_VARIABLE, orphanRecord } from "./orphans.ts";
import { stderrSink } from "./stderr.ts";

export interface Surroundings {
  /** The environment a server process inherits and variables are read from. */
  readonly env: NodeJS.ProcessEnv;
  /** Working directory of server processes that name none. */
  readonly cwd: string;
  /**
   * Shows a line of the stderr of a server whose entry says `debug`; clean, without secrets. Without it such a server gets a
   * log file.
   */
  readonly stderr?: (server: string, line: string) => void;
}

/** What a transport tells of itself on the way. */
export interface Reports {
  /** Something odd that costs nothing else: one sentence. */
  notice(text: string): void;
  /** Takes secrets out of what is shown. */
  readonly redactor: Redactor;
}

const NO_REPORTS: Reports = { notice: () => {}, redactor: createRedactor([], "patterns") };

/** What a peer that knows the manners of language servers is told before its end [S1-55]. */
const FAREWELL = { request: "shutdown", notification: "notifications/exit" };

/** A transport for an expanded target, not opened yet. Each kind is loaded with the first server that needs it. */
export async function createTransport(
  target: ServerTarget,
  flavor: "usual" | "sse",
  config: Pick<ServerConfig, "name" | "policy">,
  surroundings: Surroundings,
  reports: Reports = NO_REPORTS,
  auth?: HttpAuth,
): Promise<Transport> {
  const { env } = surroundings;
  if (target.kind === "stdio") return createProcess(target, config, surroundings, reports);
  if (target.kind === "sse" || flavor === "sse") {
    const { LegacySseTransport } = await import("../transport/legacy-sse.ts");
    return new LegacySseTransport({ ...target, env, auth });
  }
  const { HttpTransport } = await import("../transport/http.ts");
  return new HttpTransport({ ...target, env, auth });
}

async function createProcess(
  target: StdioTarget,
  config: Pick<ServerConfig, "name" | "policy">,
  surroundings: Surroundings,
  { notice, redactor }: Reports,
): Promise<Transport> {
  const { policy } = config;
  const { StdioTransport } = await import("../transport/stdio.ts");
  const record = orphanRecord(surroundings.env);
  const given = { ...inheritedEnv(policy.inheritEnv, surroundings.env), [MARK_VARIABLE]: record.mark, ...target.env };
  const cwd = target.cwd ?? surroundings.cwd;
  const npx = policy.resolveNpx ? await throughNpx(target, given, cwd, surroundings.env) : undefined;
  const container = policy.stopContainer ? await containerOf(target, given, cwd) : undefined;
  const { command, args } = npx?.target ?? container?.target ?? target;
  const sink = stderrSink(config, surroundings, redactor, notice);
  const transport = new StdioTransport({
    command,
    args,
    env: npx?.env ?? given,
    cwd,
    // A second try in other framing would be a second container.
    framing: container && policy.framing === "auto" ? "newline" : policy.framing,
    farewell: policy.shutdown === "polite" ? FAREWELL : undefined,
    record,
    onStderr: sink && ((chunk) => sink.write(chunk)),
  });
  const logged = sink ? around(transport, { ended: () => sink.close() }) : transport;
  const beside = npx ?? container;
  return beside ? around(logged, beside) : logged;
}

const MAY_BE_NPX = new Set(["npx", "npm", "cmd"]);

/** Undefined for commands that are none of npx. Looking through it is a help, so no failure of that is one of the server. */
async function throughNpx(
  target: StdioTarget,
  env: NodeJS.ProcessEnv,
  cwd: string,
  agentEnv: NodeJS.ProcessEnv,
): Promise<NpxStart | undefined> {
  if (!MAY_BE_NPX.has(programName(target.command))) return undefined;
  const keptFile = join(agentDir(personOf(agentEnv)), "mcp-npx-cache.json");
  try {
    const { resolveNpx } = await import("./npx/resolve.ts");
    return await resolveNpx(target, { ...personOf(env), cwd, keptFile });
  } catch {
    return undefined;
  }
}
