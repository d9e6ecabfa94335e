import { forgetPermissions } from "../../config/keep-permission.ts";
import { readKept } from "../../config/kept-permissions.ts";
import { formatProblem } from "../../config/problems.ts";
import type { ConfigProblem } from "../../config/record.ts";
import { userEnvironment } from "../../config/user.ts";
import { describeKept, describePermission } from "../../permission/describe.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { configHere } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

export const permission: Command = {
  name: "permission",
  help: [
    ["permission", "what is used without asking: the mode, the rules and what was allowed for good"],
    ["permission --forget [server]", "asks again about what was allowed for good, of one server or of all"],
  ],
  options: { forget: { type: "boolean" } },
  run(input) {
    const [server, ...more] = allWords(input);
    const forgets = input.values.forget === true;
    if (more.length > 0 || (server !== undefined && !forgets))
      throw new UsageError("permission takes a server only with --forget");
    return Promise.resolve(forgets ? forget(input.terminal, server) : show(input.terminal));
  },
};

function show(terminal: Terminal): number {
  const config = configHere({});
  for (const problem of config.problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  const problems: ConfigProblem[] = [];
  // Shown whether or not the mode asks about anything now.
  const always = readKept(userEnvironment(), problems);
  if (config.permission?.kept.length === 0)
    for (const problem of problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  const settings = { mode: "yolo" as const, rules: [], ...config.permission, kept: always };
  if (terminal.json) {
    const { mode, modeSource, rules, kept } = settings;
    const rows = rules.map(({ effect, written, source }) => ({ effect, written, source }));
    const answers = kept.map(({ server, kind, name }) => ({ server, kind, name }));
    terminal.write(`${JSON.stringify({ mode, ...(modeSource && { modeSource }), rules: rows, always: answers })}\n`);
  } else terminal.write(`${describePermission(settings).join("\n")}\n`);
  return EXIT.ok;
}

function forget(terminal: Terminal, server: string | undefined): number {
  const forgotten = forgetPermissions(userEnvironment(), server);
  if (terminal.json) {
    const rows = forgotten.map(({ server, kind, name }) => ({ server, kind, name }));
    terminal.write(`${JSON.stringify({ forgotten: rows })}\n`);
  } else if (forgotten.length === 0) terminal.write("There was nothing that was allowed for good.\n");
  else for (const each of forgotten) terminal.write(`forgotten  ${describeKept(each)}\n`);
  return EXIT.ok;
}
