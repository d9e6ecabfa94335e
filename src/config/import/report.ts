import { describeTarget } from "../consent.ts";
import { displayTarget } from "../display.ts";
import { escaped } from "../escaped.ts";
import { valueCommands } from "../expand.ts";
import { ORIGINS } from "../origins.ts";
import { type Decision, type ImportPlan, maskImported, type PlannedClient, type PlannedFile } from "./plan.ts";
import type { SkippedServer } from "./scan.ts";

/** What there is, program by program, and how to take it. */
export function describeListing(plan: ImportPlan): string {
  const isFound = ({ files }: PlannedClient) => files.some(({ state }) => state !== "absent");
  const lines = plan.clients
    .filter(isFound)
    .flatMap((planned) => [...describeClient(planned, LISTED), ...howToTake(planned), ""]);
  const absent = plan.clients.filter((planned) => !isFound(planned)).map(({ client }) => client.title);
  return `${[...lines, ...(absent.length > 0 ? [`No files of: ${absent.join(", ")}.`] : [])].join("\n")}\n`;
}

function howToTake({ client, files }: PlannedClient): string[] {
  const actions = files.flatMap(({ decisions }) => decisions.map(({ action }) => action));
  return [
    ...(actions.includes("add") ? [`  To take them: pi-mcp import ${client.id}`] : []),
    ...(actions.includes("project")
      ? [`  To take also those of this project: pi-mcp import ${client.id} --from-project`]
      : []),
  ];
}

/** What an import does, file by file, and the change of the file. */
export function describeImport({ clients, change }: ImportPlan, file: string): string {
  const isOne = clients.length === 1;
  const lines = clients.flatMap((planned) =>
    isOne || planned.files.some(({ state }) => state !== "absent") ? describeClient(planned, WORDS, isOne) : [],
  );
  const diff = change.length === 0 ? [] : ["", `--- ${escaped(file)}`, `+++ ${escaped(file)}`, ...change, ""];
  return `${[...lines, ...diff].join("\n")}\n`;
}

function describeClient({ client, files }: PlannedClient, words: Words, withAbsent = false): string[] {
  const shown = files.filter(({ state }) => withAbsent || state !== "absent");
  return [client.title, ...shown.flatMap((file) => describeFile(file, words))];
}

const STATES: Readonly<Record<PlannedFile["state"], string>> = {
  read: "",
  absent: ": no such file",
  broken: ": could not be read",
};

function describeFile({ file, scope, state, decisions, skipped, note }: PlannedFile, words: Words): string[] {
  const whose = scope === "project" ? " (of this project)" : "";
  const none = state === "read" && decisions.length + skipped.length === 0 ? ": no servers" : STATES[state];
  return [
    `  ${escaped(file)}${whose}${none}${note === undefined || state === "absent" ? "" : `; it ${note}`}`,
    ...decisions.flatMap((decision) => describeDecision(decision, words)),
    ...skipped.map(describeSkipped),
  ];
}

function describeDecision(decision: Decision, words: Words): string[] {
  const { server, name, action } = decision;
  const as = name === server.name ? "" : ` as ${shownName(name)}`;
  const isTaken = action === "add" || action === "replace";
  // What a project's file names is a stranger's, and nothing of it is a secret of the person's.
  const what =
    server.scope === "project"
      ? describeTarget(server.target, {
          inheritEnv: ORIGINS.mcpjson.inheritEnv,
          commands: valueCommands(server.target, ORIGINS.mcpjson.variableForms),
        })
      : [escaped(`${server.target.kind}: ${displayTarget(server.target)}`)];
  return [
    `    ${words[action]} ${shownName(server.name)}${as}${reasonOf(decision)}`,
    ...(action === "same" ? [] : what.map((line) => `        ${line}`)),
    ...(isTaken || action === "project"
      ? [...server.off.map((reason) => `switched off: ${reason}`), ...server.notes]
      : []
    ).map((line) => `        ${escaped(line)}`),
  ];
}

type Words = Readonly<Record<Decision["action"], string>>;

const WORDS: Words = {
  add: "add     ",
  replace: "replace ",
  same: "same    ",
  taken: "not     ",
  shadowed: "not     ",
  project: "not     ",
};

/** Where nothing is done yet. */
const LISTED: Words = { ...WORDS, add: "new     " };

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
  return `    skipped  ${shownName(name)} (line ${source.line}): ${escaped(reason)}`;
}

/** The same for a program; with what was written unless nothing was to be. */
export function importAsJson(plan: ImportPlan, file: string, isListing: boolean, isWritten: boolean) {
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

/** Whole, so that two of them are never taken for one. */
function shownName(name: string): string {
  return escaped(JSON.stringify(name));
}
