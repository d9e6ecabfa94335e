import { listSome } from "../config/list-some.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import type { ErrorCategory } from "../error.ts";

export type CheckId =
  | "configuration"
  | "variables"
  | "program"
  | "address"
  | "environment"
  | "connection"
  | "protocol"
  | "tools"
  | "descriptions"
  | "resources"
  | "prompts";

export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

/** One thing that was looked at: clean lines, in which no configured secret stands. */
export interface Check {
  readonly id: CheckId;
  readonly status: CheckStatus;
  readonly text: string;
  /** What goes with it: the folders a program was looked for in, what a server wrote before it ended. */
  readonly details?: readonly string[];
  /** What to do. */
  readonly hint?: string;
}

/** What was found of one entry of the configuration, in the order in which it was looked at. */
export interface Diagnosis {
  readonly server: string;
  /** Why an entry is no server, if it is none. */
  readonly state: "used" | "disabled" | "wrong" | "waiting" | "denied";
  readonly checks: readonly Check[];
  /** Of what keeps it from being used, as an error of this server would have it; absent when it works. */
  readonly category?: ErrorCategory;
}

const TEXT_CHARS = 2_000;

/** Makes a check of texts that may hold anything but secrets. */
export function check(
  id: CheckId,
  status: CheckStatus,
  text: string,
  { details = [], hint }: { readonly details?: readonly string[]; readonly hint?: string | undefined } = {},
): Check {
  const clean = (line: string) => sanitizeLine(line, TEXT_CHARS);
  return {
    id,
    status,
    text: clean(text),
    ...(details.length > 0 && { details: details.map(clean) }),
    ...(hint !== undefined && { hint: clean(hint) }),
  };
}

/** Some of many names for a line. */
export function listNames(names: readonly string[]): string {
  return listSome(names, MAX_NAMES);
}

const MAX_NAMES = 20;
