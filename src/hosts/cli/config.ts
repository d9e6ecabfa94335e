import { describePlaces, displayServer } from "../../config/display.ts";
import { ORIGINS } from "../../config/origins.ts";
import { formatProblem } from "../../config/problems.ts";
import type { ServerConfig } from "../../config/record.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { configHere, filesRead, SOURCE_OPTIONS, variablesRead } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { untrustedLines, untrustedRows, unusedLines, unusedRows } from "./not-running.ts";

/** The servers that are used, where each comes from, what about it is not as usual, and what is not used. Starts none. */
export const config: Command = {
  name: "config",
  help: [["config", "the servers in use, where each is configured, and what differs from the defaults"]],
  options: SOURCE_OPTIONS,
  async run(input) {
    const { terminal, values } = input;
    if (allWords(input).length > 0) throw new UsageError("config takes no words");
    const loaded = configHere(values);
    const files = [...filesRead(loaded, values), ...variablesRead(values)];
    const { servers, problems } = loaded;
    const rows = servers.map(rowOf);
    if (terminal.json) {
      const untrusted = untrustedRows(loaded);
      const unused = unusedRows(loaded);
      const others = { ...(untrusted.length > 0 && { untrusted }), ...(unused.length > 0 && { unused }) };
      terminal.write(`${JSON.stringify({ files, servers: rows, ...others, problems })}\n`);
      return EXIT.ok;
    }
    for (const problem of problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
    for (const { file, state } of files) terminal.write(`${state.padEnd(7)} ${sanitizeLine(file, 1000)}\n`);
    for (const row of rows) terminal.write(`\n${describe(row)}`);
    const others = [...unusedLines(loaded), ...untrustedLines(loaded)];
    if (others.length > 0) terminal.write(`\nnot in use:\n${others.map((line) => `  ${line}`).join("")}`);
    return EXIT.ok;
  },
};

type Row = ReturnType<typeof rowOf>;

function rowOf(server: ServerConfig) {
  const { name, origin, source, target, policy, exposure, directTools, tools, fields: written } = server;
  const defaults = ORIGINS[origin];
  const fields = Object.keys(defaults) as (keyof typeof defaults)[];
  const changed = fields.filter((field) => JSON.stringify(policy[field]) !== JSON.stringify(defaults[field]));
  return {
    name,
    transport: target.kind,
    target: displayServer(server),
    ...source,
    origin,
    exposure,
    ...(directTools && { directTools }),
    ...(tools && { tools }),
    fields: written,
    differs: Object.fromEntries(changed.map((field) => [field, { value: policy[field], default: defaults[field] }])),
  };
}

function describe({ name, target, file, line, column, exposure, directTools, tools, fields, differs }: Row): string {
  const lines = [
    `${sanitizeLine(name, 100)}  ${sanitizeLine(target, 400)}`,
    `  ${sanitizeLine(`${file}:${line}:${column}`, 1000)}`,
    ...describePlaces(fields).map((line) => `  ${sanitizeLine(line, 1000)}`),
    ...(exposure === "direct" ? ["  exposure: direct (default: gateway)"] : []),
    ...describeNames("directTools", directTools, "none"),
    ...describeNames("includeTools", tools?.include, "all"),
    ...describeNames("excludeTools", tools?.exclude.length === 0 ? undefined : tools?.exclude, "none"),
    ...Object.entries(differs).map(
      ([field, { value, default: usual }]) => `  ${field}: ${show(value)} (default: ${show(usual)})`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function describeNames(field: string, names: readonly string[] | undefined, usual: string): string[] {
  return names === undefined ? [] : [`  ${field}: ${show(names)} (default: ${usual})`];
}

function show(value: unknown): string {
  return sanitizeLine(typeof value === "string" ? value : JSON.stringify(value), 200);
}
