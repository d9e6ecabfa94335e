import { formatProblem } from "../../config/problems.ts";
import type { ConfigProblem } from "../../config/record.ts";
import type { ErrorCategory } from "../../error.ts";
import { permissionLine } from "../../permission/describe.ts";
import type { Diagnosis } from "../../session/check.ts";
import { createSession } from "../../session/create-session.ts";
import { describeDiagnosis, type Verdict, verdictOf } from "../../session/describe-diagnosis.ts";
import { diagnose } from "../../session/diagnose.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { configHere, SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";

/** Looks at every server, or one: what is configured, whether it starts, and what it offers. Ends all it started. */
export const doctor: Command = {
  name: "doctor",
  help: [["doctor [server]", "tries each server, and says what is wrong and what to do"]],
  options: SOURCE_OPTIONS,
  async run(input) {
    const { terminal, options, values } = input;
    const [name, ...more] = allWords(input);
    if (more.length > 0) throw new UsageError("doctor takes at most one server");
    const surroundings = { env: process.env, cwd: process.cwd() };
    const session = createSession(configHere(values), surroundings);
    try {
      const { signal, timeoutMs } = options;
      const limits = { signal, ...(timeoutMs !== undefined && { limitMs: timeoutMs }) };
      const begun = diagnose(session, surroundings, name, limits);
      // What is wrong with a whole file, or with an entry that has no name.
      const problems = session.problems.filter(({ server }) => server === undefined);
      if (!terminal.json) terminal.write(problems.map((problem) => `${formatProblem(problem)}\n`).join(""));
      const diagnoses: Diagnosis[] = [];
      for (const each of begun) {
        const diagnosis = await each;
        diagnoses.push(diagnosis);
        if (!terminal.json) terminal.write(`${describeDiagnosis(diagnosis)}\n`);
      }
      // What works may still be asked about or denied.
      const permission = permissionLine(session.permission);
      const stated = permission !== undefined && { permission };
      if (terminal.json) terminal.write(`${JSON.stringify({ servers: diagnoses, problems, ...stated })}\n`);
      else terminal.write(`${permission === undefined ? "" : `${permission}\n`}${summary(diagnoses)}`);
      return exitCode(diagnoses, name === undefined ? problems : [], name !== undefined);
    } finally {
      await session.close();
    }
  },
};

function summary(diagnoses: readonly Diagnosis[]): string {
  if (diagnoses.length === 0)
    return "No MCP servers are configured. See `pi-mcp --help` for the files that are read.\n";
  const count = (verdict: Verdict) => diagnoses.filter((each) => verdictOf(each) === verdict).length;
  const unused = count("unused");
  return `${count("works")} of ${diagnoses.length - unused} servers work${unused === 0 ? "" : `, ${unused} not in use`}.\n`;
}

function exitCode(diagnoses: readonly Diagnosis[], problems: readonly ConfigProblem[], isNamed: boolean): number {
  const found = new Set<ErrorCategory>();
  for (const { category, state, checks } of diagnoses) {
    // Of a server that was asked for, that it is not in use is an answer no script should take for a yes.
    const counts = checks.some(({ status }) => status === "failed") || (isNamed && state !== "used");
    if (counts && category !== undefined) found.add(category);
  }
  if (problems.some(({ severity }) => severity === "error")) found.add("other");
  const isUsed = isNamed && diagnoses.some((each) => each.state === "used" && each.category === undefined);
  if (found.size === 0 || isUsed) return EXIT.ok;
  if (found.has("cancelled")) return EXIT_OF_CATEGORY.cancelled;
  const [only = "other", ...others] = found;
  return EXIT_OF_CATEGORY[others.length === 0 ? only : "other"];
}
