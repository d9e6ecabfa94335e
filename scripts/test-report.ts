import { readFileSync } from "node:fs";

/** What we read of the JSON report that vitest writes. */
export interface TestReport {
  readonly testResults: readonly TestFile[];
}

export interface TestFile {
  /** Absolute path. */
  readonly name: string;
  readonly status: "passed" | "failed" | (string & {});
  /** Why the file itself failed: it could not be loaded, or a hook threw. */
  readonly message?: string;
  readonly assertionResults: readonly TestResult[];
}

export interface TestResult {
  /** With the names of the groups around it. */
  readonly fullName: string;
  readonly status: "passed" | "failed" | (string & {});
  readonly failureMessages: readonly string[] | null;
}

/** Throws what `readFileSync` or `JSON.parse` throws. */
export function readReport(path: string): TestReport {
  return JSON.parse(readFileSync(path, "utf8")) as TestReport;
}
