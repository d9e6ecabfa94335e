/**
 * `npm run rows`: which requirement rows (rows/rows.json) have a passing test, by the ids in the names of the tests in
 * test-output/results*.json. `--missing` writes out the rows that have none.
 * Exits 1 when a row has only failing tests, a test names a row that does not exist, or there are no results.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { asRanges, claimsOf } from "./row-ids.ts";
import { OUTPUT, ROOT } from "./run.ts";
import { readReport } from "./test-report.ts";

interface Row {
  readonly id: string;
  readonly statement: string;
  /** What holds instead of the statement. */
  readonly decision?: string;
}

interface RowList {
  readonly systems: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

/** Names of the tests of one row, by how they ended. Skipped tests prove nothing and are not counted. */
interface Evidence {
  readonly passed: string[];
  readonly failed: string[];
}

const RESULTS = /^results.*\.json$/;
const SHOWN_SLIPS = 20;

function resultFiles(): string[] {
  if (!existsSync(join(OUTPUT, "results.json"))) return [];
  return readdirSync(OUTPUT).filter((file) => RESULTS.test(file));
}

function collect(rows: readonly Row[], files: readonly string[]): { evidence: Map<string, Evidence>; slips: string[] } {
  const evidence = new Map<string, Evidence>(rows.map((row) => [row.id, { passed: [], failed: [] }]));
  const slips: string[] = [];
  for (const file of files) {
    for (const test of readReport(join(OUTPUT, file)).testResults.flatMap((result) => result.assertionResults)) {
      const { ids, unreadable } = claimsOf(test.fullName);
      for (const text of unreadable) slips.push(`${text} is no list of row ids: ${test.fullName}`);
      for (const id of ids) {
        const found = evidence.get(id);
        if (found === undefined) slips.push(`there is no row ${id}: ${test.fullName}`);
        else if (test.status === "passed") found.passed.push(test.fullName);
        else if (test.status === "failed") found.failed.push(test.fullName);
      }
    }
  }
  return { evidence, slips };
}

function main(args: readonly string[]): number {
  const { systems, rows } = JSON.parse(readFileSync(join(ROOT, "rows", "rows.json"), "utf8")) as RowList;
  const files = resultFiles();
  if (files.length === 0) {
    console.error("There are no test results (test-output/results.json). Run `npm test` first.");
    return 1;
  }
  const { evidence, slips } = collect(rows, files);
  const select = (wanted: (found: Evidence) => boolean) =>
    rows.filter((row) => wanted(evidence.get(row.id) ?? { passed: [], failed: [] }));
  const proven = select(({ passed, failed }) => passed.length > 0 && failed.length === 0);
  const mixed = select(({ passed, failed }) => passed.length > 0 && failed.length > 0);
  const failing = select(({ passed, failed }) => passed.length === 0 && failed.length > 0);
  const missing = select(({ passed, failed }) => passed.length === 0 && failed.length === 0);

  const order = rows.map((row) => row.id);
  const list = (some: readonly Row[]) =>
    asRanges(
      some.map((row) => row.id),
      order,
    );
  if (args.includes("--missing")) {
    for (const { id, statement, decision } of missing) {
      console.log(`${id} ${statement}${decision === undefined ? "" : `\n      Decided: ${decision}`}`);
    }
  } else {
    if (proven.length > 0) console.log(`Proven by a passing test: ${list(proven)}`);
    if (missing.length > 0)
      console.log(`Without a test: ${list(missing)} (written out by \`npm run rows -- --missing\`)`);
  }
  if (mixed.length > 0) console.log(`Some tests pass, some fail: ${list(mixed)}`);
  if (failing.length > 0) console.log(`Only failing tests: ${list(failing)}`);
  for (const slip of slips.slice(0, SHOWN_SLIPS)) console.error(`Error: ${slip}`);

  const totals = Object.entries(systems).map(([system, name]) => {
    const of = (some: readonly Row[]) => some.filter((row) => row.id.startsWith(`${system}-`)).length;
    return `${system} ${of(proven)}/${of(rows)} (${name})`;
  });
  console.log(`${totals.join(", ")}, together ${proven.length}/${rows.length}`);
  return failing.length > 0 || slips.length > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
