import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { describeUntrustedFile } from "../../config/consent.ts";
import { formatProblem } from "../../config/problems.ts";
import type { UntrustedFile } from "../../config/record.ts";
import type { Decision } from "../../config/trust.ts";
import { allowProject, listTrust, revoke } from "../../config/trust-decisions.ts";
import { userEnvironment } from "../../config/user.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { McpServerError } from "../../error.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { configHere } from "./config-file.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

/** Longer than any path a system takes: nothing is cut. */
const PATH_CHARS = 100_000;

export const trust: Command = {
  name: "trust",
  help: [
    ["trust", "what this project's files would run; asks whether to allow it"],
    ["trust --yes", "allows it without asking, for scripts"],
    ["trust --list", "what has been allowed or denied"],
    ["trust --revoke [file]", "forgets it, for one file or for all"],
  ],
  options: { yes: { type: "boolean" }, list: { type: "boolean" }, revoke: { type: "boolean" } },
  async run(input) {
    const { terminal, values, options } = input;
    const [file, ...more] = allWords(input);
    if (more.length > 0 || (file !== undefined && values.revoke !== true))
      throw new UsageError("trust takes a file only with --revoke");
    if ([values.list, values.revoke, values.yes].filter(Boolean).length > 1)
      throw new UsageError("trust takes one of --yes, --list, --revoke");
    if (values.list === true) return trustList(terminal);
    if (values.revoke === true) return trustRevoke(terminal, file);
    return review(terminal, values.yes === true, options.signal);
  },
};

/**
 * Shows what of this project waits for a person and asks file by file. With `yes`, for scripts, all that waits is allowed,
 * but not what a person has denied. Where nobody can be asked it lists. What is left not allowed makes the exit code 9.
 */
async function review(terminal: Terminal, yes: boolean, signal: AbortSignal): Promise<number> {
  const untrusted = untrustedFiles();
  const left: UntrustedFile[] = [];
  const allowed: UntrustedFile[] = [];
  if (untrusted.length === 0 && !terminal.json) terminal.write("Nothing of this project waits to be allowed.\n");
  for (const file of untrusted) {
    if (!terminal.json) terminal.write(`${describeUntrustedFile(file)}\n`);
    const decision = yes ? (file.state === "waiting" ? "allow" : undefined) : await ask(terminal, signal);
    if (decision !== undefined) allowProject(userEnvironment(), file, decision);
    if (decision === "allow") allowed.push(file);
    else left.push({ ...file, state: decision === "deny" ? "denied" : file.state });
    if (!terminal.json) terminal.write(`${decision === undefined ? STILL[file.state] : SAID[decision]}\n\n`);
  }
  if (terminal.json) terminal.write(`${JSON.stringify({ allowed: allowed.map(allowedRow), untrusted: left })}\n`);
  return left.length === 0 ? EXIT.ok : EXIT_OF_CATEGORY.denied;
}

function allowedRow({ file, realPath, sha256, servers }: UntrustedFile) {
  return { file, realPath, sha256, servers: servers.map(({ name, effect }) => ({ name, effect })) };
}

const SAID: Readonly<Record<Decision, string>> = {
  allow: "Allowed, until the file changes.",
  deny: "Denied, until the file changes.",
};

const STILL: Readonly<Record<UntrustedFile["state"], string>> = {
  waiting: "Not allowed yet. `pi-mcp trust` in a terminal asks, `pi-mcp trust --yes` allows all of it.",
  denied: "Still denied. `pi-mcp trust` in a terminal asks again.",
};

/** What has been decided, in all projects. */
function trustList(terminal: Terminal): number {
  const entries = listTrust(userEnvironment());
  if (terminal.json) terminal.write(`${JSON.stringify({ trust: entries })}\n`);
  else if (entries.length === 0) terminal.write("No project file has been allowed or denied.\n");
  for (const { decision, file, sha256 } of terminal.json ? [] : entries) {
    terminal.write(`${decision}  ${sanitizeLine(file, PATH_CHARS)}  sha256:${sha256.slice(0, 12)}\n`);
  }
  return EXIT.ok;
}

/** Forgets what was decided about one file, or about all. */
function trustRevoke(terminal: Terminal, file: string | undefined): number {
  const forgotten = revoke(userEnvironment(), file === undefined ? undefined : resolve(file));
  if (terminal.json) terminal.write(`${JSON.stringify({ revoked: forgotten })}\n`);
  else if (forgotten.length === 0) {
    const which = file === undefined ? "no project file" : sanitizeLine(resolve(file), PATH_CHARS);
    const said = file === undefined ? "has been allowed or denied" : "has been neither allowed nor denied";
    terminal.write(`There was nothing to revoke: ${which} ${said}.\n`);
  }
  for (const each of terminal.json ? [] : forgotten) terminal.write(`revoked  ${sanitizeLine(each, PATH_CHARS)}\n`);
  return EXIT.ok;
}

function untrustedFiles(): readonly UntrustedFile[] {
  const config = configHere({});
  for (const problem of config.problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  return config.untrusted ?? [];
}

/** Yes, no, or nothing decided: only a terminal that shows the text and takes the answer counts. */
async function ask(terminal: Terminal, signal: AbortSignal): Promise<Decision | undefined> {
  if (terminal.json || process.stdin.isTTY !== true || process.stdout.isTTY !== true) return undefined;
  // Line by line, so that Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    terminal.write("Allow this file? (y: allow, n: deny, Enter: decide later) ");
    const answer = await new Promise<string>((done, fail) => {
      lines.once("line", done).once("close", () => done(""));
      signal.addEventListener(
        "abort",
        () => fail(new McpServerError("", "cancelled", "cancelled; nothing more was allowed")),
        { once: true },
      );
    });
    const word = answer.trim().toLowerCase();
    return word === "y" || word === "yes" ? "allow" : word === "n" || word === "no" ? "deny" : undefined;
  } finally {
    lines.close();
  }
}
