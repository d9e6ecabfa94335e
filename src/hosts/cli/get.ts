import { findEntries } from "../../config/edit-entries.ts";
import { fieldsOf, isDisabled } from "../../config/entries.ts";
import { readDocument } from "../../config/layers.ts";
import { maskEntry } from "../../config/mask-entry.ts";
import { projectPaths } from "../../config/paths.ts";
import { formatProblem, quote } from "../../config/problems.ts";
import type { ConfigProblem } from "../../config/record.ts";
import { describeUnused } from "../../config/unused.ts";
import { sanitizeText } from "../../content/sanitize.ts";
import { McpServerError } from "../../error.ts";
import { type Command, type OptionValues, onlyName } from "./command.ts";
import { configHere, FILE_OPTION, filesRead, fileToEdit, type ReadFile, SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

/** Shows what is written about a server, in every file that is read, the strongest first. Secrets are masked. */
export const get: Command = {
  name: "get",
  help: [["get <name>", "what is configured for a server, and where (secrets masked)"]],
  options: { ...FILE_OPTION, ...SOURCE_OPTIONS },
  async run(input) {
    const name = onlyName("get", input);
    const { terminal, values } = input;
    const isAll = values.file === undefined && values.project !== true;
    const files = filesToShow(values);
    const entries = files.flatMap((file) => entriesIn(file, name));
    const loaded = configHere(values);
    const used = isAll ? loaded.servers.find((server) => server.name === name)?.source : undefined;
    if (entries.length === 0) {
      const where = used === undefined ? "" : `; it comes from ${used.file}`;
      throw new McpServerError(
        name,
        "unknown-server",
        `no server ${quote(name)} in ${files.map(({ file }) => file).join(", ")}${where}`,
      );
    }
    const unused = isAll ? loaded.unused?.find((entry) => entry.name === name) : undefined;
    const rows = entries.map((row) => ({
      ...row,
      isUsed: used?.file === row.file && used.line === row.line,
      // The mistake stands in one of the files.
      ...(unused?.reason === "wrong" && unused.source.file === row.file && { mistake: describeUnused(unused) }),
    }));
    if (terminal.json) terminal.write(`${JSON.stringify({ name, entries: rows })}\n`);
    else for (const row of rows) terminal.write(describe(row, rows.length > 1));
    return EXIT.ok;
  },
};

/** The one that is named, those of the project, or all; the strongest first. */
function filesToShow(values: OptionValues): ReadFile[] {
  if (values.file !== undefined) return [{ file: fileToEdit(values), state: "read" }];
  const all = filesRead(configHere(values), values).reverse();
  if (values.project !== true) return all;
  const project = projectPaths(process.cwd()).map(({ file }) => file);
  const there = all.filter(({ file }) => project.includes(file));
  return there.length > 0 ? there : [{ file: fileToEdit(values), state: "absent" }];
}

interface Row {
  readonly file: string;
  readonly state: ReadFile["state"];
  readonly line: number;
  readonly isDisabled: boolean;
  readonly entry: object;
}

function entriesIn({ file, state }: ReadFile, name: string): Row[] {
  const problems: ConfigProblem[] = [];
  const document = readDocument(file, problems);
  for (const problem of problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
  if (document === undefined) return [];
  return findEntries(document, name).map(({ position, value }) => ({
    file,
    state,
    line: position.line,
    isDisabled: isDisabled(fieldsOf(document, value)),
    entry: maskEntry(value),
  }));
}

type ShownRow = Row & { readonly isUsed: boolean; readonly mistake?: string };

function describe(row: ShownRow, isOneOfSeveral: boolean): string {
  const note = noteOf(row, isOneOfSeveral);
  return `${sanitizeText(`${row.file}:${row.line}`)}${note}\n${sanitizeText(JSON.stringify(row.entry, null, 2))}\n`;
}

function noteOf({ state, isDisabled, isUsed, mistake }: ShownRow, isOneOfSeveral: boolean): string {
  if (state === "waiting") return " (not allowed yet, see `pi-mcp trust`)";
  if (state === "denied") return " (denied)";
  if (isDisabled) return " (disabled)";
  if (mistake !== undefined) return ` (${mistake})`;
  return isOneOfSeveral && isUsed ? " (used)" : "";
}
