import { findEntries } from "../../config/edit-entries.ts";
import { fieldsOf, isDisabled } from "../../config/entries.ts";
import { readDocument } from "../../config/layers.ts";
import { maskEntry } from "../../config/mask-entry.ts";
import { configPaths } from "../../config/paths.ts";
import { formatProblem, quote } from "../../config/problems.ts";
import type { ConfigProblem } from "../../config/record.ts";
import { sanitizeText } from "../../content/sanitize.ts";
import { McpServerError } from "../../error.ts";
import { type Command, onlyName } from "./command.ts";
import { FILE_OPTION, fileToEdit, serverInUse, userEnvironment } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

/** Shows what is written about a server, in every file that is read, the strongest first. Secrets are masked. */
export const get: Command = {
  name: "get",
  help: [["get <name>", "what is configured for a server, and where (secrets masked)"]],
  options: FILE_OPTION,
  async run(input) {
    const name = onlyName("get", input);
    const { terminal, values } = input;
    const paths = configPaths(userEnvironment());
    const files =
      values.file === undefined
        ? [paths.settingsToml, paths.settings, ...[...paths.mcpJson].reverse()]
        : [fileToEdit(values)];
    const entries = files.flatMap((file) => entriesIn(file, name));
    if (entries.length === 0) {
      throw new McpServerError(name, "unknown-server", `no server ${quote(name)} in ${files.join(", ")}`);
    }
    const used = values.file === undefined ? serverInUse(name)?.source : undefined;
    const rows = entries.map((row) => ({ ...row, isUsed: used?.file === row.file && used.line === row.line }));
    if (terminal.json) terminal.write(`${JSON.stringify({ name, entries: rows })}\n`);
    else for (const row of rows) terminal.write(describe(row, rows.length > 1));
    return EXIT.ok;
  },
};

interface Row {
  readonly file: string;
  readonly line: number;
  readonly isDisabled: boolean;
  readonly entry: object;
}

function entriesIn(file: string, name: string): Row[] {
  const problems: ConfigProblem[] = [];
  const document = readDocument(file, problems);
  for (const problem of problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  if (document === undefined) return [];
  return findEntries(document, name).map(({ position, value }) => ({
    file,
    line: position.line,
    isDisabled: isDisabled(fieldsOf(document, value)),
    entry: maskEntry(value),
  }));
}

function describe(row: Row & { readonly isUsed: boolean }, isOneOfSeveral: boolean): string {
  const state = row.isDisabled ? " (disabled)" : isOneOfSeveral && row.isUsed ? " (used)" : "";
  return `${sanitizeText(`${row.file}:${row.line}`)}${state}\n${sanitizeText(JSON.stringify(row.entry, null, 2))}\n`;
}
