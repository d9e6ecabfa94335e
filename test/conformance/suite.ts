import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { OUTPUT, ROOT } from "../../scripts/run.ts";

const PACKAGE = join(ROOT, "node_modules/@modelcontextprotocol/conformance");
const LOGS = join(OUTPUT, "conformance");

/** What the suite gives a client; the longest scenario needs one second. */
const CLIENT_LIMIT_MS = 30_000;
/** Scenarios of extensions stand outside the revisions' time line: they run at the last revision of each era. */
const EXTENSION_REVISIONS = ["2025-11-25", "2026-07-28"];
/** The suite's check of every message's shape, which says nothing of what the scenario is about. */
const SHAPE_CHECK = "wire-schema-valid";

/** `pinned`: the configuration names the revision. `auto`: client and server find it, as they do for most people. */
export const MODES = ["pinned", "auto"] as const;
export type Mode = (typeof MODES)[number];

export interface Scenario {
  readonly name: string;
  readonly revisions: readonly string[];
  readonly extension: boolean;
}

export interface Run {
  readonly scenario: Scenario;
  readonly revision: string;
  readonly mode: Mode;
}

export interface Verdict {
  readonly run: Run;
  readonly passed: number;
  readonly executed: number;
  readonly skipped: number;
  /** Why the run failed, one sentence each; none when it passed. */
  readonly failures: readonly string[];
}

interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly description: string;
  readonly errorMessage?: string;
}

export function suiteVersion(): string {
  return (JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string }).version;
}

/** All client scenarios, as the suite itself lists them: `  - tools_call [2025-06-18,2025-11-25,2026-07-28]`. */
export async function listScenarios(): Promise<Scenario[]> {
  const { stdout } = await suite(["list", "--client"]);
  return [...stdout.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm)].map(([, name = "", revisions = ""]) => {
    const extension = revisions === "extension";
    return { name, extension, revisions: extension ? EXTENSION_REVISIONS : revisions.split(",") };
  });
}

/**
 * One scenario at one revision, in a process of its own, judged strictly: besides failed checks, a warning, a client that
 * exits with an error or too late, and a run that checked nothing fail it too. Everything said is kept in
 * test-output/conformance/<scenario>@<revision>-<mode>/.
 */
export async function runScenario(run: Run): Promise<Verdict> {
  const { scenario, revision, mode } = run;
  const folder = join(LOGS, `${scenario.name.replaceAll("/", "-")}@${revision}-${mode}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // The suite starts the command through a shell, with the server's address behind it.
  const command = `"${process.execPath}" test/conformance/client.ts ${mode}`;
  const { code, stdout, stderr } = await suite([
    "client",
    ...["--command", command, "--scenario", scenario.name, "--spec-version", revision],
    ...["--timeout", String(CLIENT_LIMIT_MS), "--output-dir", folder],
    ...(scenario.extension ? ["--force"] : []),
  ]);
  writeFileSync(join(folder, "suite.log"), `${stdout}\n${stderr}`);
  const checks = checksIn(folder);
  const executed = checks.filter(({ status }) => status === "SUCCESS" || status === "FAILURE" || status === "WARNING");
  const failures = executed
    .filter(({ status }) => status !== "SUCCESS")
    .map(({ id, name, status, description, errorMessage }) => {
      return `${status === "WARNING" ? "warning " : ""}${id} (${name}): ${errorMessage ?? description}`;
    });
  // Some scenarios let the client fail; ours knows what it is in for and never does.
  const exit = /^Client exited with code (\S+)/m.exec(stderr)?.[1];
  if (/^Client timed out/m.test(stderr)) failures.push("the client did not end in time");
  else if (exit !== undefined) failures.push(`the client exited with code ${exit}: ${lastLine(folder)}`);
  if (executed.every(({ id }) => id === SHAPE_CHECK)) failures.push("nothing was checked");
  if (code !== 0 && failures.length === 0) failures.push(`the suite exited with code ${code}`);
  const passed = executed.filter(({ status }) => status === "SUCCESS").length;
  const skipped = checks.filter(({ status }) => status === "SKIPPED").length;
  return { run, passed, executed: executed.length, skipped, failures };
}

/** The suite makes one folder with the time in its name for each run; none when it refused to run. */
function resultFile(folder: string, name: string): string | undefined {
  // Some scenarios have a folder in their names, too.
  const results = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => basename(path) === name);
  return results === undefined ? undefined : readFileSync(join(folder, results), "utf8");
}

function checksIn(folder: string): Check[] {
  return JSON.parse(resultFile(folder, "checks.json") ?? "[]") as Check[];
}

function lastLine(folder: string): string {
  return (resultFile(folder, "stderr.txt") ?? "").trimEnd().split("\n").at(-1) ?? "";
}

function suite(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(PACKAGE, "dist/index.js"), ...args], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, ...output }));
  });
}
