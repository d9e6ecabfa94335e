import { existsSync } from "node:fs";
import { checkFile } from "../../config/check.ts";
import { formatProblem } from "../../config/problems.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { EXIT } from "./exit-codes.ts";

/** For a CI: says what reading the files would say. Reads nothing else and starts nothing. */
export const validate: Command = {
  name: "validate",
  help: [["validate FILE …", "check configuration files: mistakes as file:line:column, exit code 1 if there are any"]],
  async run(input) {
    const { terminal } = input;
    const files = allWords(input);
    if (files.length === 0) throw new UsageError("validate needs the path of a file");
    const checked = files.map((file) => checkFile(file, existsSync(file)));
    const problems = checked.flatMap((each) => each.problems);
    if (terminal.json) {
      const rows = checked.map(({ file, servers, problems: own }) => ({
        file,
        servers: servers.map(({ name }) => name),
        problems: own,
      }));
      terminal.write(`${JSON.stringify({ files: rows })}\n`);
    } else for (const problem of problems) terminal.write(`${formatProblem(problem)}\n`);
    return problems.some(({ severity }) => severity === "error") ? EXIT.mistakes : EXIT.ok;
  },
};
