import type { ErrorCategory } from "../../error.ts";

/** The command line's exit codes: one per kind of failure, so that a script can tell them apart. */
export const EXIT = {
  ok: 0,
  /** The tool ran and reported an error. */
  toolError: 1,
  /** `validate` found mistakes; `import` could not read a file or not take a server that was named. */
  mistakes: 1,
  /** The command line itself is wrong: unknown command, bad JSON, missing name. */
  usage: 2,
} as const;

export const EXIT_OF_CATEGORY: Readonly<Record<ErrorCategory, number>> = {
  "unknown-server": 3,
  connection: 4,
  "needs-auth": 5,
  timeout: 6,
  "unknown-tool": 7,
  validation: 8,
  denied: 9,
  other: 10,
  cancelled: 130,
};
