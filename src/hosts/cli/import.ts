import { basename } from "node:path";
import type { ImportClient } from "../../config/import/client.ts";
import { IMPORT_CLIENTS } from "../../config/import/clients.ts";
import { type ImportPlan, type ImportRequest, planImport } from "../../config/import/plan.ts";
import { describeImport, describeListing, importAsJson } from "../../config/import/report.ts";
import { type ScannedClient, scanClient } from "../../config/import/scan.ts";
import { formatProblem, quote, visible } from "../../config/problems.ts";
import { userEnvironment } from "../../config/user.ts";
import { McpServerError } from "../../error.ts";
import { allWords, type Command, type CommandInput, textOption, UsageError } from "./command.ts";
import { edit, FILE_OPTION, fileToEdit, usedInstead } from "./config-file.ts";
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
    const request: ImportRequest = {
      file,
      fromProject: values["from-project"] === true,
      force: values.force === true,
      ...(names.length > 0 && { names }),
      ...(as !== undefined && { as }),
    };
    const scanned = clients.map((client) => scanClient(client, context));
    const plan = isListing ? planEach(scanned, request) : planImport(scanned, request);
    assertFound(plan, names, clients);
    const isWriting = !isListing && values["dry-run"] !== true && plan.edits.length > 0;
    if (!terminal.json) {
      for (const problem of plan.clients.flatMap(({ problems }) => problems))
        console.error(`pi-mcp: ${formatProblem(problem)}`);
      terminal.write(isListing ? describeListing(plan) : describeImport(plan, file));
    }
    const edited = isWriting ? await edit(file, plan.edits, input.options.signal) : undefined;
    if (terminal.json) terminal.write(`${JSON.stringify(importAsJson(plan, file, isListing, edited !== undefined))}\n`);
    else if (edited !== undefined) {
      for (const { name, position } of edited.servers) {
        terminal.write(`imported ${quote(name)}: ${position?.file ?? edited.file}:${position?.line ?? 1}\n`);
      }
    } else if (!isListing) {
      terminal.write(plan.edits.length === 0 ? "There is nothing to import.\n" : "Nothing was written (--dry-run).\n");
    }
    if (edited !== undefined) {
      const written = edited.servers.map(({ name }) => name);
      const elsewhere = usedInstead(written, values, [file, edited.file]);
      for (const instead of elsewhere) console.error(`pi-mcp: ${instead}`);
    }
    return !isListing && (hasMistakes(plan) || isMissing(plan, names)) ? EXIT.mistakes : EXIT.ok;
  },
};

/** What importing each program by itself would do. */
function planEach(scanned: readonly ScannedClient[], request: ImportRequest): ImportPlan {
  const clients = scanned.flatMap((each) => planImport([each], request).clients);
  return { clients, edits: [], change: [] };
}

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
  const as = textOption(values, "as") ?? "";
  if (values.all === true && id !== undefined) throw new UsageError("import takes either a program or --all");
  if (values.as !== undefined && (names.length !== 1 || as.trim() === "")) {
    throw new UsageError("--as takes a name, and goes with one server: import <program> <name> --as NAME");
  }
  if (visible(as) !== as) throw new UsageError("the name behind --as holds an invisible character");
  if (id === undefined) {
    const isListing = values.all !== true;
    if (isListing && (values.force || values["dry-run"])) {
      throw new UsageError("import needs a program, or --all; without either it only lists");
    }
    return { clients: IMPORT_CLIENTS, names: [], isListing };
  }
  const client = IMPORT_CLIENTS.find((each) => [each.id, each.title].some((name) => letters(name) === letters(id)));
  if (client === undefined) {
    throw new UsageError(
      `${quote(id)} is no program known here (there are: ${IMPORT_CLIENTS.map((each) => each.id).join(", ")})`,
    );
  }
  return { clients: [client], names, isListing: false };
}

/** `VS Code`, `vscode` and `vs-code` are one. */
function letters(name: string): string {
  return name.toLowerCase().replace(/[ _-]/g, "");
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
