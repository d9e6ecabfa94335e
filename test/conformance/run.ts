/**
 * `npm run conformance`: the official client suite against test/conformance/client.ts, every scenario at every revision it
 * belongs to, with the revision pinned and with it negotiated. `npm run conformance -- sse-retry tools_call` runs some.
 */
import { listScenarios, MODES, type Run, runScenario, type Scenario, suiteVersion, type Verdict } from "./suite.ts";

/** Two: the smallest machine this runs on has two cores. */
const AT_ONCE = 2;
/** Measures time, so nothing else may run beside it. */
const ALONE = new Set(["sse-retry"]);
const CELL_WIDTH = 10;
/** What is shown of one failed run, so that all fit on a screen; the logs have the rest. */
const FAILURE_LENGTH = 300;

const wanted = process.argv.slice(2);
const all = await listScenarios();
const scenarios = all.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const runs = scenarios.flatMap((scenario) =>
  scenario.revisions.flatMap((revision) => MODES.map((mode): Run => ({ scenario, revision, mode }))),
);

const begun = performance.now();
const verdicts: Verdict[] = [];
const queue = runs.filter(({ scenario }) => !ALONE.has(scenario.name));
await Promise.all(Array.from({ length: AT_ONCE }, () => work(queue)));
await work(runs.filter(({ scenario }) => ALONE.has(scenario.name)));
process.exitCode = report();

async function work(queue: Run[]): Promise<void> {
  for (let run = queue.shift(); run !== undefined; run = queue.shift()) verdicts.push(await runScenario(run));
}

/** Prints the table and what failed; gives the exit code. */
function report(): number {
  const revisions = [...new Set(runs.map(({ revision }) => revision))].sort();
  const columns = revisions.flatMap((revision) => MODES.map((mode) => ({ revision, mode })));
  const nameWidth = Math.max(...scenarios.map(({ name }) => name.length), 0);
  const row = (name: string, cells: readonly string[]) =>
    console.log([name.padEnd(nameWidth), ...cells.map((cell) => cell.padEnd(CELL_WIDTH))].join("  ").trimEnd());

  console.log(`MCP client conformance ${suiteVersion()}: checks passed of checks made\n`);
  row(
    "",
    columns.map(({ revision, mode }) => (mode === MODES[0] ? revision : "")),
  );
  row(
    "",
    columns.map(({ mode }) => mode),
  );
  for (const scenario of scenarios) {
    row(
      scenario.name,
      columns.map(({ revision, mode }) => cellOf(scenario, revision, mode)),
    );
  }
  const failed = verdicts.filter(({ failures }) => failures.length > 0);
  for (const { run, failures } of failed) {
    const what = `\n${run.scenario.name} at ${run.revision}, ${run.mode}: ${failures.join("; ")}`;
    console.log(what.length > FAILURE_LENGTH ? `${what.slice(0, FAILURE_LENGTH)} …` : what);
  }
  const sum = (count: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + count(verdict), 0);
  console.log(
    `\n${runs.length - failed.length} of ${runs.length} runs of ${scenarios.length} scenarios passed, ` +
      `${sum(({ passed }) => passed)} of ${sum(({ executed }) => executed)} checks ` +
      `(${sum(({ skipped }) => skipped)} did not apply), in ${((performance.now() - begun) / 1000).toFixed(0)} s. ` +
      "Logs: test-output/conformance/",
  );
  return failed.length > 0 || runs.length === 0 ? 1 : 0;
}

function cellOf(scenario: Scenario, revision: string, mode: string): string {
  const verdict = verdicts.find(
    ({ run }) => run.scenario === scenario && run.revision === revision && run.mode === mode,
  );
  if (verdict === undefined) return "-";
  return `${verdict.failures.length > 0 ? "FAIL " : ""}${verdict.passed}/${verdict.executed}`;
}
