import { ORIGINS } from "./origins.ts";
import { quote } from "./problems.ts";
import type { ConfigProblem, FieldSource, ServerPolicy } from "./record.ts";

/** How long a first turn waits for servers whose tools the model is to see, unless a variable says otherwise [S2-38]. */
const FIRST_TURN_WAIT_MS = 10_000;

/** Above this a timer of the system would fire at once; it is about three weeks. */
const MAX_SECONDS = 2_000_000;

/** What can be set for the servers an editor hands over, which have no file to set it in [S2-37, S2-64]. */
export const LIMIT_VARIABLES = {
  start: "PI_MCP_START_TIMEOUT",
  call: "PI_MCP_CALL_TIMEOUT",
  result: "PI_MCP_MAX_RESULT_KB",
  firstTurn: "PI_MCP_FIRST_TURN_WAIT",
} as const;

export interface HandedPolicy {
  readonly policy: ServerPolicy;
  /** The variables that had a part in it, under the names the same limits have in a file. */
  readonly fields: Readonly<Record<string, FieldSource>>;
}

/** The defaults of an editor's servers with what the environment says instead. */
export function handedPolicy(env: NodeJS.ProcessEnv, problems: ConfigProblem[]): HandedPolicy {
  const defaults = ORIGINS.acp;
  const start = numberIn(env, LIMIT_VARIABLES.start, "seconds", problems);
  const call = numberIn(env, LIMIT_VARIABLES.call, "seconds", problems);
  const result = numberIn(env, LIMIT_VARIABLES.result, "kilobytes of 1,024 bytes", problems);
  return {
    policy: {
      ...defaults,
      ...(start !== undefined && { startTimeoutMs: milliseconds(start) }),
      ...(call !== undefined && { callTimeoutMs: milliseconds(call) }),
      ...(result !== undefined && {
        resultLimit: { ...defaults.resultLimit, maxBytes: Math.max(1, Math.round(result * 1024)) },
      }),
    },
    fields: {
      ...(start !== undefined && { startup_timeout_sec: placeOf(LIMIT_VARIABLES.start) }),
      ...(call !== undefined && { tool_timeout_sec: placeOf(LIMIT_VARIABLES.call) }),
      ...(result !== undefined && { maxResultBytes: placeOf(LIMIT_VARIABLES.result) }),
    },
  };
}

/** How long a first turn waits, milliseconds. */
export function firstTurnWaitMs(env: NodeJS.ProcessEnv, problems: ConfigProblem[] = []): number {
  const seconds = numberIn(env, LIMIT_VARIABLES.firstTurn, "seconds", problems);
  return seconds === undefined ? FIRST_TURN_WAIT_MS : milliseconds(seconds);
}

function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(Math.min(seconds, MAX_SECONDS) * 1000));
}

/** A number above zero, or, with a problem, nothing: then the default counts. */
function numberIn(env: NodeJS.ProcessEnv, name: string, unit: string, problems: ConfigProblem[]): number | undefined {
  const written = env[name]?.trim();
  if (!written) return undefined;
  const value = Number(written);
  if (value > 0 && Number.isFinite(value)) return value;
  const message = `This variable must be a number of ${unit} above zero, not ${quote(written)}; it is not used.`;
  problems.push({ file: name, line: 1, column: 1, severity: "warning", message });
  return undefined;
}

/** A variable stands where others have a file. */
function placeOf(variable: string): FieldSource {
  return { layer: "environment", file: variable, line: 1, column: 1 };
}
