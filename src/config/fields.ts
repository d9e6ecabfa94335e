/**
 * The fields of a server's entry that mean something here. What else an entry holds is kept in files and left out when
 * an entry is taken over from another program. The published schema has exactly these.
 */
export const FIELDS: ReadonlySet<string> = new Set([
  "args",
  "ca",
  "cert",
  "command",
  "cwd",
  "directTools",
  "disabled",
  "enabled",
  "env",
  "exposure",
  "framing",
  "headers",
  "inheritEnv",
  "key",
  "maxResultBytes",
  "maxResultLines",
  "offersRoots",
  "protocolVersion",
  "requestTimeoutMs",
  "shutdown",
  "startup_timeout_sec",
  "stopContainer",
  "timeout",
  "tool_timeout_sec",
  "transport",
  "transportType",
  "type",
  "url",
]);
