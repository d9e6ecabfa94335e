import { join } from "node:path";
import { getNodeValue } from "jsonc-parser";
import { isObject } from "../../is-object.ts";
import type { JsonDocument } from "../json-file.ts";
import type { Dialect, EditorInput } from "../spelling.ts";
import {
  appData,
  foldersIn,
  type ImportClient,
  type ImportContext,
  type ImportPlace,
  nodeAt,
  projectFile,
  serversAt,
  userFile,
} from "./client.ts";

/** `${env:X}`, and the folders and signs that VS Code and its relatives know by name. */
function editorDialect({ base }: ImportPlace, { platform }: ImportContext): Dialect {
  return { forms: ["env"], isStrict: true, editor: { platform, ...(base !== undefined && { folder: base }) } };
}

/** Where VS Code keeps what is a person's, the edition most people use first. */
function userFolders(context: ImportContext): string[] {
  return ["Code", "Code - Insiders"].map((edition) => join(appData(context), edition, "User"));
}

/** VS Code and its Insiders edition; each profile may have a file of its own. Inputs are asked for there. */
export const vscode: ImportClient = {
  id: "vscode",
  title: "VS Code",
  places: (context) => [
    ...userFolders(context).flatMap((folder) => [
      userFile(folder, "mcp.json"),
      ...foldersIn(join(folder, "profiles"), /./).map((profile) => userFile(profile, "mcp.json")),
    ]),
    projectFile(context, ".vscode", "mcp.json"),
  ],
  dialect: (place, context, document) => ({ ...editorDialect(place, context), inputs: inputsOf(document) }),
  read: (document) => serversAt(document, "servers"),
};

function inputsOf(document: JsonDocument): Map<string, EditorInput> {
  const node = nodeAt(document, ["inputs"]);
  const list: unknown = node && getNodeValue(node);
  return new Map(
    (Array.isArray(list) ? list.filter(isObject) : []).map((input): [string, EditorInput] => [
      String(input.id),
      {
        ...(typeof input.description === "string" && { description: input.description }),
        ...(typeof input.default === "string" && { fallback: input.default }),
      },
    ]),
  );
}

export const cursor: ImportClient = {
  id: "cursor",
  title: "Cursor",
  places: (context) => [userFile(context.home, ".cursor", "mcp.json"), projectFile(context, ".cursor", "mcp.json")],
  dialect: editorDialect,
  read: (document) => serversAt(document, "mcpServers"),
};

export const windsurf: ImportClient = {
  id: "windsurf",
  title: "Windsurf",
  places: ({ home }) => [userFile(home, ".codeium", "windsurf", "mcp_config.json")],
  dialect: () => ({ forms: ["env"], isStrict: true, hasFiles: true }),
  read: (document) => serversAt(document, "mcpServers"),
};

/** Cline keeps its servers in the storage of VS Code, and those of its command line in a folder of its own. */
export const cline: ImportClient = {
  id: "cline",
  title: "Cline",
  timeouts: "s",
  places: (context) => [
    ...userFolders(context).map((folder) =>
      userFile(folder, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
    ),
    userFile(context.home, ".cline", "data", "settings", "cline_mcp_settings.json"),
  ],
  dialect: () => ({ forms: ["env"], isStrict: true }),
  read: (document) => serversAt(document, "mcpServers"),
};

export const roo: ImportClient = {
  id: "roo",
  title: "Roo Code",
  timeouts: "s",
  places: (context) => [
    ...userFolders(context).map((folder) =>
      userFile(folder, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"),
    ),
    projectFile(context, ".roo", "mcp.json"),
  ],
  dialect: editorDialect,
  read: (document) => serversAt(document, "mcpServers"),
};

/** LM Studio writes its file as Cursor does. */
export const lmStudio: ImportClient = {
  id: "lm-studio",
  title: "LM Studio",
  timeouts: "ms",
  places: ({ home }) => [userFile(home, ".lmstudio", "mcp.json"), userFile(home, ".cache", "lm-studio", "mcp.json")],
  dialect: () => ({ forms: ["env"], isStrict: true }),
  read: (document) => serversAt(document, "mcpServers"),
};
