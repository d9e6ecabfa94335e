import { sanitizeLine } from "../content/sanitize.ts";
import type { Check, Diagnosis } from "./check.ts";

/** What was found of one server, a line for each thing that was looked at, and below it what is to be said of it. */
export function describeDiagnosis(diagnosis: Diagnosis): string {
  const lines = diagnosis.checks.flatMap(describeCheck);
  return `${sanitizeLine(diagnosis.server, 100)}: ${VERDICTS[verdictOf(diagnosis)]}\n${lines.join("\n")}\n`;
}

function describeCheck({ status, id, text, details = [], hint }: Check): string[] {
  return [
    `  ${status.padEnd(7)}  ${id.padEnd(13)}  ${text}`,
    ...details.map((line) => `${INDENT}| ${line}`),
    ...(hint === undefined ? [] : [`${INDENT}→ ${hint}`]),
  ];
}

const INDENT = " ".repeat(26);

export type Verdict = "works" | "fails" | "unused";

const VERDICTS: Readonly<Record<Verdict, string>> = { works: "works", fails: "does not work", unused: "not in use" };

export function verdictOf({ state, checks }: Diagnosis): Verdict {
  if (checks.some(({ status }) => status === "failed")) return "fails";
  return state === "used" ? "works" : "unused";
}
