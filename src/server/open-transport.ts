import type { ServerTarget } from "../config/record.ts";
import type { Transport } from "../transport/transport.ts";

export interface Surroundings {
  /** The environment a server process inherits and variables are read from. */
  readonly env: NodeJS.ProcessEnv;
  /** Working directory of server processes that name none. */
  readonly cwd: string;
}

/** A transport for an expanded target, not opened yet. Each kind is loaded with the first server that needs it. */
export async function createTransport(target: ServerTarget, surroundings: Surroundings): Promise<Transport> {
  if (target.kind === "http") {
    const { HttpTransport } = await import("../transport/http.ts");
    return new HttpTransport({ url: target.url, headers: target.headers });
  }
  const { StdioTransport } = await import("../transport/stdio.ts");
  return new StdioTransport({
    command: target.command,
    args: target.args,
    env: { ...surroundings.env, ...target.env },
    cwd: target.cwd ?? surroundings.cwd,
  });
}
