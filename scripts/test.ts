/**
 * `npm test`: runs all tests, says in one screen how it went, and ends with `N passed, N failed` alone on a line.
 * The whole output is in test-output/vitest.log; test-output/results.json is the report that `npm run rows` reads.
 * Arguments go to vitest (`npm test -- src/config`); the report of such a partial run is kept apart.
 * `--suite NAME` as the first runs one of the slow suites instead (test/<NAME>), with its report in results-<NAME>.json.
 */
import { rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { OUTPUT, ROOT, runLogged, tail } from "./run.ts";
import { readReport, type TestReport } from "./test-report.ts";

/** Failures shown in full; more would not fit on a screen. */
const SHOWN_FAILURES = 8;
const LINES_OF_A_FAILURE = 3;
const TAIL_LINES = 15;

interface Count {
  passed: number;
  failed: number;
  skipped: number;
  files: number;
}

/** What `npm test` runs, as vitest.config.ts names it. */
const USUAL = ["unit", "end to end"];
const SLOW = ["proofs", "tui", "browser"];

/** The kind of a test by the folder it stands in, as in vitest.config.ts. */
function kindOf(file: string): string {
  const [top, folder = ""] = relative(ROOT, file).split(sep);
  if (top !== "test") return "unit";
  return SLOW.includes(folder) ? folder : "end to end";
}

/** The projects to run, the name of what is written, and what else goes to vitest. */
function plan(args: readonly string[]): { projects: readonly string[]; name: string; rest: readonly string[] } {
  const [first, suite = "", ...rest] = args;
  if (first !== "--suite") return { projects: args.length === 0 ? USUAL : [], name: "", rest: args };
  if (!SLOW.includes(suite)) throw new Error(`There is no suite "${suite}"; there are: ${SLOW.join(", ")}.`);
  return { projects: [suite], name: `-${suite}`, rest };
}

/** Counts by kind. A file that failed without a failed test in it (it did not load, a hook threw) counts as one failure. */
function count(report: TestReport): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (const file of report.testResults) {
    const kind = kindOf(file.name);
    const sum = counts.get(kind) ?? { passed: 0, failed: 0, skipped: 0, files: 0 };
    counts.set(kind, sum);
    sum.files += 1;
    let failed = 0;
    for (const test of file.assertionResults) {
      if (test.status === "passed") sum.passed += 1;
      else if (test.status === "failed") failed += 1;
      else sum.skipped += 1;
    }
    sum.failed += file.status === "failed" ? Math.max(failed, 1) : failed;
  }
  return counts;
}

function failures(report: TestReport): string[] {
  const texts: string[] = [];
  for (const file of report.testResults) {
    const where = relative(ROOT, file.name);
    const failed = file.assertionResults.filter((test) => test.status === "failed");
    for (const test of failed) texts.push(describe(`${where} > ${test.fullName}`, test.failureMessages?.[0]));
    if (file.status === "failed" && failed.length === 0) texts.push(describe(where, file.message));
  }
  return texts;
}

/** What vitest's report holds in place of the message when a test took too long; the log has the message. */
const TIMED_OUT = "Error: STACK_TRACE_ERROR";

function describe(title: string, message: string | undefined): string {
  const text = (message ?? "").replace(TIMED_OUT, "It took longer than its time limit.");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return [`FAILED ${title}`, ...lines.slice(0, LINES_OF_A_FAILURE).map((line) => `  ${line.trim()}`)].join("\n");
}

function closingLine(sum: { passed: number; failed: number; skipped: number }): string {
  return `${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""}`;
}

/** The report, or undefined when vitest ended before it wrote one. */
function reportOf(path: string): TestReport | undefined {
  try {
    return readReport(path);
  } catch {
    return undefined;
  }
}

const { projects, name, rest } = plan(process.argv.slice(2));
const reportFile = join(OUTPUT, rest.length === 0 ? `results${name}.json` : "partial.json");
rmSync(reportFile, { force: true });
const vitest = join("node_modules", "vitest", "vitest.mjs");
const selected = projects.map((project) => `--project=${project}`);
const run = await runLogged(`vitest${name}`, [
  vitest,
  "run",
  `--outputFile.json=${reportFile}`,
  "--passWithNoTests=false",
  ...selected,
  ...rest,
]);

const report = reportOf(reportFile) ?? { testResults: [] };
const total = { passed: 0, failed: 0, skipped: 0 };
for (const [kind, sum] of count(report)) {
  console.log(`${kind}: ${closingLine(sum)} in ${sum.files} ${sum.files === 1 ? "file" : "files"}`);
  total.passed += sum.passed;
  total.failed += sum.failed;
  total.skipped += sum.skipped;
}
const texts = failures(report);
for (const text of texts.slice(0, SHOWN_FAILURES)) console.log(`\n${text}`);
if (texts.length > SHOWN_FAILURES) console.log(`\n… and ${texts.length - SHOWN_FAILURES} more`);
if (run.code !== 0 && total.failed === 0) {
  // No test failed and yet the run did: an error outside any test, or no test found.
  console.log(`\nThe run itself failed:\n${tail(run.log, TAIL_LINES)}`);
  total.failed = 1;
}
console.log(`\nEverything it printed: ${run.log} (${run.seconds.toFixed(0)} s)`);
console.log(closingLine(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
