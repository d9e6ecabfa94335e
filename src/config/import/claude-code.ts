import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../is-object.ts";
import type { JsonDocument } from "../json-file.ts";
import {
  type ForeignServer,
  folderFrom,
  type ImportClient,
  type ImportContext,
  nodeAt,
  projectFile,
  type ReadBeside,
  serversAt,
  switchedOff,
  textsAt,
  textsOf,
  userFile,
} from "./client.ts";

/**
 * Claude Code: a person's own servers and those for one folder in `.claude.json`, a project's in `.mcp.json`. Of the
 * project's only those are taken that the person has approved there.
 */
export const claudeCode: ImportClient = {
  id: "claude-code",
  title: "Claude Code",
  timeouts: "ms",
  places: (context) => [
    userFile(ownFile(context)),
    { ...projectFile(context, ".mcp.json"), note: "is read without an import, once `pi-mcp trust` allows it" },
  ],
  dialect: () => ({ forms: ["braced", "fallback"], isStrict: true }),
  read(document, { scope }, context, beside) {
    if (scope === "project") return approved(serversAt(document, "mcpServers"), context, beside);
    const folder = folderKey(document, context.cwd);
    const forFolder = folder === undefined ? [] : serversAt(document, "projects", folder, "mcpServers");
    const disabled = folder === undefined ? [] : textsAt(document, "projects", folder, "disabledMcpServers");
    return [...switchedOff(forFolder, disabled, "it is disabled in Claude Code"), ...serversAt(document, "mcpServers")];
  },
};

function ownFile({ env, home }: ImportContext): string {
  return join(folderFrom(env, "CLAUDE_CONFIG_DIR") ?? home, ".claude.json");
}

/** The key of a folder among the projects: as it was entered, without links, or with slashes on Windows. */
function folderKey(document: JsonDocument, cwd: string): string | undefined {
  const names = [cwd, realFolder(cwd)].flatMap((folder) => [folder, folder.replaceAll("\\", "/")]);
  return names.find((name) => nodeAt(document, ["projects", name]) !== undefined);
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * A "no" counts wherever it is written. A "yes" counts where a person writes it: the settings that come with the project
 * could otherwise approve themselves.
 */
function approved(servers: readonly ForeignServer[], context: ImportContext, beside: ReadBeside): ForeignServer[] {
  const { env, home, cwd } = context;
  const own = beside(ownFile(context));
  const projects = isObject(own?.projects) ? own.projects : {};
  const folder = [cwd, realFolder(cwd), cwd.replaceAll("\\", "/")].map((key) => projects[key]).find(isObject);
  const ownSettings = [
    beside(join(folderFrom(env, "CLAUDE_CONFIG_DIR") ?? join(home, ".claude"), "settings.json")),
    beside(join(cwd, ".claude", "settings.local.json")),
    folder,
  ];
  const rejected = [...ownSettings, beside(join(cwd, ".claude", "settings.json"))].flatMap((settings) =>
    textsOf(settings?.disabledMcpjsonServers),
  );
  const all = ownSettings.some((settings) => settings?.enableAllProjectMcpServers === true);
  const enabled = ownSettings.flatMap((settings) => textsOf(settings?.enabledMcpjsonServers));
  return servers.map((server) => {
    if (server.skip !== undefined) return server;
    if (rejected.includes(server.name)) return { ...server, skip: "it is rejected in Claude Code" };
    if (all || enabled.includes(server.name)) return server;
    return { ...server, skip: "it is not approved in Claude Code" };
  });
}
