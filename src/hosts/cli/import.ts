import { basename } from "node:path";
import { describeTarget, escaped } from "../../config/consent.ts";
import { displayTarget } from "../../config/display.ts";
import type { ImportClient } from "../../config/import/client.ts";
import { IMPORT_CLIENTS } from "../../config/import/clients.ts";
import {
  type Decision,
  type ImportPlan,
  maskImported,
  type PlannedClient,
  type PlannedFile,
  planImport,
} from "../../config/import/plan.ts";
import { type SkippedServer, scanClient } from "../../config/import/scan.ts";
import { ORIGINS } from "../../config/origins.ts";
import { formatProblem, quote } from "../../config/problems.ts";
import { McpServerError } from "../../error.ts";
import { allWords, type Command, type CommandInput, textOption, UsageError } from "./command.ts";
import { edit, FILE_OPTION, fileToEdit, usedInstead, userEnvironment } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

/**
 * Reads what other programs have configured and adds it to an mcp.json. Without the name of a program it only lists.
 * Starts nothing. The files of a project are somebody else's: their servers are taken only when that is asked for, and
 * what they would run is shown exactly.
 */
export const importServers: Command = {
  name: "import",
  help: [
    ["import", "the servers other programs have, and how to take them (writes nothing)"],
    ["import <program> [name …]", "take the servers of one program, or some of them"],
  ],
  options: {
    ...FILE_OPTION,
    all: { type: "boolean" },
    "from-project": { type: "boolean" },
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    as: { type: "string" },
  },
  async run(input) {
    const { clients, names, isListing } = requested(input);
    const { terminal, values } = input;
    const file = targetFile(values);
    const context = { ...userEnvironment(), platform: process.platform, cwd: process.cwd() };
    const as = textOption(values, "as")?.trim();
    const plan = planImport(
      clients.map((client) => scanClient(client, context)),
      {
        file,
        fromProject: values["from-project"] === true,
        force: values.force === true,
        ...(names.length > 0 && { names }),
        ...(as !== undefined && { as }),
      },
    );
    assertFound(plan, names, clients);
    const isWriting = !isListing && values["dry-run"] !== true && plan.edits.length > 0;
    if (!terminal.json) {
      for (const problem of plan.clients.flatMap(({ problems }) => problems))
        console.error(`pi-mcp: ${formatProblem(problem)}`);
      terminal.write(isListing ? describeListing(plan) : describeImport(plan, file));
    }
    const edited = isWriting ? await edit(file, plan.edits, input.options.signal) : undefined;
    if (terminal.json) terminal.write(`${JSON.stringify(asJson(plan, file, isListing, edited !== undefined))}\n`);
    else if (edited !== undefined) {
      for (const { name, position } of edited.servers) {
        terminal.write(`imported ${quote(name)}: ${position?.file ?? edited.file}:${position?.line ?? 1}\n`);
      }
    } else if (!isListing) {
      terminal.write(plan.edits.length === 0 ? "There is nothing to import.\n" : "Nothing was written (--dry-run).\n");
    }
    if (edited !== undefined && values.file === undefined) {
      for (const { name } of edited.servers) {
        const instead = usedInstead(name, [file, edited.file]);
        if (instead !== undefined) console.error(`pi-mcp: ${instead}`);
      }
    }
    return !isListing && (hasMistakes(plan) || isMissing(plan, names)) ? EXIT.mistakes : EXIT.ok;
  },
};

interface Requested {
  readonly clients: readonly ImportClient[];
  readonly names: readonly string[];
  /** Nothing was asked to be taken. */
  readonly isListing: boolean;
}

/** Throws UsageError. */
function requested(input: CommandInput): Requested {
  const [id, ...names] = allWords(input);
  const { values } = input;
  if (values.all === true && id !== undefined) throw new UsageError("import takes either a program or --all");
  if (values.as !== undefined && (names.length !== 1 || textOption(values, "as")?.trim() === "")) {
    throw new UsageError("--as takes a name, and goes with one server: import <program> <name> --as NAME");
  }
  if (id === undefined) {
    const isListing = values.all !== true;
    if (isListing && (values.force || values["dry-run"])) {
      throw new UsageError("import needs a program, or --all; without either it only lists");
    }
    return { clients: IMPORT_CLIENTS, names: [], isListing };
  }
  const client = IMPORT_CLIENTS.find((each) => each.id === id.toLowerCase());
  if (client === undefined) {
    throw new UsageError(
      `${quote(id)} is no program known here (there are: ${IMPORT_CLIENTS.map((each) => each.id).join(", ")})`,
    );
  }
  return { clients: [client], names, isListing: false };
}

/** Other files know fewer forms of variables, so that what is imported would mean something else in them. */
function targetFile(values: CommandInput["values"]): string {
  const file = fileToEdit(values);
  if (/^settings\.(?:json|toml)$/.test(basename(file)) || !file.endsWith("json")) {
    throw new UsageError(
      "import writes mcp.json files: servers of other programs cannot be written to this one as they are",
    );
  }
  return file;
}

/** Throws McpServerError for a name nobody has. */
function assertFound(plan: ImportPlan, names: readonly string[], [client]: readonly ImportClient[]): void {
  const files = plan.clients.flatMap((each) => each.files);
  const found = new Set(
    files.flatMap(({ decisions, skipped }) => [
      ...decisions.map(({ server }) => server.name),
      ...skipped.map(({ name }) => name),
    ]),
  );
  const missing = names.find((name) => !found.has(name));
  if (missing !== undefined) {
    const message = `${client?.title} has no server ${quote(missing)}. \`pi-mcp import\` lists what there is.`;
    throw new McpServerError(missing, "unknown-server", message);
  }
}

/** A file that could not be read may hold servers that are wanted. */
function hasMistakes({ clients }: ImportPlan): boolean {
  return clients.some(({ problems }) => problems.some(({ severity }) => severity === "error"));
}

/** Whether a server that was asked for by name is neither taken nor there. */
function isMissing({ clients }: ImportPlan, names: readonly string[]): boolean {
  const decisions = clients.flatMap(({ files }) => files.flatMap((file) => file.decisions));
  const done = decisions.filter(({ action }) => action === "add" || action === "replace" || action === "same");
  return names.some((name) => !done.some(({ server }) => server.name === name));
}

function describeListing(plan: ImportPlan): string {
  const isFound = ({ files }: PlannedClient) => files.some(({ state }) => state !== "absent");
  const lines = plan.clients
    .filter(isFound)
    .flatMap((planned) => [...describeClient(planned), ...howToTake(planned), ""]);
  const absent = plan.clients.filter((planned) => !isFound(planned)).map(({ client }) => client.title);
  return `${[...lines, ...(absent.length > 0 ? [`No files of: ${absent.join(", ")}.`] : [])].join("\n")}\n`;
}

function howToTake({ client, files }: PlannedClient): string[] {
  const actions = files.flatMap(({ decisions }) => decisions.map(({ action }) => action));
  const own = actions.some((action) => action !== "project" && action !== "same");
  return [
    ...(own ? [`  To take them: pi-mcp import ${client.id}`] : []),
    ...(actions.includes("project")
      ? [`  To take also those of this project: pi-mcp import ${client.id} --from-project`]
      : []),
  ];
}

function describeImport({ clients, change }: ImportPlan, file: string): string {
  const isOne = clients.length === 1;
  const lines = clients.flatMap((planned) =>
    isOne || planned.files.some(({ state }) => state !== "absent") ? describeClient(planned, isOne) : [],
  );
  const diff = change.length === 0 ? [] : ["", `--- ${escaped(file)}`, `+++ ${escaped(file)}`, ...change, ""];
  return `${[...lines, ...diff].join("\n")}\n`;
}

function describeClient({ client, files }: PlannedClient, withAbsent = false): string[] {
  const shown = files.filter(({ state }) => withAbsent || state !== "absent");
  return [client.title, ...shown.flatMap(describeFile)];
}

const STATES: Readonly<Record<PlannedFile["state"], string>> = {
  read: "",
  absent: ": no such file",
  broken: ": could not be read",
};

function describeFile({ file, scope, state, decisions, skipped, note }: PlannedFile): string[] {
  const whose = scope === "project" ? " (of this project)" : "";
  const none = state === "read" && decisions.length + skipped.length === 0 ? ": no servers" : STATES[state];
  return [
    `  ${escaped(file)}${whose}${none}${note === undefined || state === "absent" ? "" : `; it ${note}`}`,
    ...decisions.flatMap(describeDecision),
    ...skipped.map(describeSkipped),
  ];
}

function describeDecision(decision: Decision): string[] {
  const { server, name, action } = decision;
  const as = name === server.name ? "" : ` as ${quote(name)}`;
  const isTaken = action === "add" || action === "replace";
  // What a project's file names is a stranger's, and nothing of it is a secret of the person's.
  const what =
    server.scope === "project"
      ? describeTarget(server.target, ORIGINS.mcpjson)
      : [escaped(`${server.target.kind}: ${displayTarget(server.target)}`)];
  return [
    `    ${WORDS[action]} ${quote(server.name)}${as}${reasonOf(decision)}`,
    ...(action === "same" ? [] : what.map((line) => `        ${line}`)),
    ...(isTaken || action === "project"
      ? [...server.off.map((reason) => `switched off: ${reason}`), ...server.notes]
      : []
    ).map((line) => `        ${escaped(line)}`),
  ];
}

const WORDS: Readonly<Record<Decision["action"], string>> = {
  add: "add     ",
  replace: "replace ",
  same: "same    ",
  taken: "not     ",
  shadowed: "not     ",
  project: "not     ",
};

function reasonOf({ action, other }: Decision): string {
  const where = other === undefined ? "" : `${escaped(other.file)}:${other.line}`;
  switch (action) {
    case "same":
      return `: is in ${where} already`;
    case "taken":
      return `: another server of this name is in ${where}; --force replaces it, --as NAME adds this one under another name`;
    case "shadowed":
      return `: the one of this name in ${where} is taken`;
    case "project":
      return ": comes with the project; --from-project takes it";
    case "replace":
      return `: in place of the one in ${where}`;
    default:
      return "";
  }
}

function describeSkipped({ name, source, reason }: SkippedServer): string {
  return `    skipped  ${quote(name)} (line ${source.line}): ${escaped(reason)}`;
}

function asJson(plan: ImportPlan, file: string, isListing: boolean, isWritten: boolean) {
  const clients = plan.clients.map(({ client, files, problems }) => ({
    ...client,
    files: files.map(({ decisions, ...rest }) => ({
      ...rest,
      servers: decisions.map(({ server, name, action, other }) => ({
        name: server.name,
        ...(name !== server.name && { as: name }),
        action,
        ...(other !== undefined && { other }),
        source: server.source,
        entry: server.scope === "project" ? server.entry : maskImported(server.entry),
        ...(server.off.length > 0 && { off: server.off }),
        notes: server.notes,
      })),
    })),
    problems,
  }));
  return { file, clients, ...(!isListing && { change: plan.change, written: isWritten }) };
}
