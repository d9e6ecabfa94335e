import { displayServer } from "../../config/display.ts";
import { ORIGINS } from "../../config/origins.ts";
import { formatProblem } from "../../config/problems.ts";
import type { ConfigLayer, ServerConfig } from "../../config/record.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { configHere, filesRead, SOURCE_OPTIONS, variablesRead } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

/** The servers that are used, where each comes from, and what about it is not as usual. Starts none. */
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
      terminal.write(`${JSON.stringify({ files, servers: rows, problems })}\n`);
      return EXIT.ok;
    }
    for (const problem of problems) console.error(`pi-mcp: ${formatProblem(problem)}`);
    for (const { file, state } of files) terminal.write(`${state.padEnd(7)} ${sanitizeLine(file, 1000)}\n`);
    for (const row of rows) terminal.write(`\n${describe(row)}`);
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

/** A server whose fields come from more than one place, place by place: which of them stands where. */
function placesOf(fields: ServerConfig["fields"]): string[] {
  const places = new Map<string, string[]>();
  for (const [field, { layer, file, line, column }] of Object.entries(fields)) {
    const place = `${file} (${LAYERS[layer]})`;
    places.set(place, [...(places.get(place) ?? []), `${field} ${line}:${column}`]);
  }
  if (places.size < 2) return [];
  return [...places].map(([place, names]) => `  from ${sanitizeLine(`${place}: ${names.join(", ")}`, 1000)}`);
}

const LAYERS: Readonly<Record<ConfigLayer, string>> = {
  own: "your file",
  project: "file of the project",
  environment: "variable",
  editor: "editor",
  flag: "command line",
  extension: "extension",
};

function describe({ name, target, file, line, column, exposure, directTools, tools, fields, differs }: Row): string {
  const lines = [
    `${sanitizeLine(name, 100)}  ${sanitizeLine(target, 400)}`,
    `  ${sanitizeLine(`${file}:${line}:${column}`, 1000)}`,
    ...placesOf(fields),
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
