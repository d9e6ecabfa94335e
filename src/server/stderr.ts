import { join } from "node:path";
import { personOf, serverLogDir } from "../config/paths.ts";
import type { ServerConfig } from "../config/record.ts";
import { fileStem } from "../content/file-name.ts";
import type { Redactor } from "../content/redact.ts";
import { stderrLines } from "./stderr-lines.ts";
import { openStderrLog, type StderrSink } from "./stderr-log.ts";

interface StderrPlace {
  readonly env: NodeJS.ProcessEnv;
  /** Where a host shows what a server says, one clean line after the other. */
  readonly stderr?: ((server: string, line: string) => void) | undefined;
}

/** The name of a server's log: what a text may say that names no folder. */
export function logName(server: string): string {
  return `${fileStem(server)}.log`;
}

/**
 * Where a server's stderr goes beside the tail in memory; undefined for nowhere. A host that has no place to show it gets a
 * log, and is told where that is.
 */
export function stderrSink(
  { name, policy }: Pick<ServerConfig, "name" | "policy">,
  { env, stderr }: StderrPlace,
  redactor: Redactor,
  notice: (text: string) => void,
): StderrSink | undefined {
  if (policy.stderr === "ring") return undefined;
  if (policy.stderr === "show" && stderr) return stderrLines(redactor, (line) => stderr(name, line));
  const path = join(serverLogDir(personOf(env)), logName(name));
  if (policy.stderr === "show") notice(`what it writes to stderr is in ${path}`);
  return openStderrLog(path, notice);
}
