import { displayServer } from "../../config/display.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import type { McpSession } from "../../session/session.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { untrustedLines, untrustedRows } from "./not-running.ts";
import { openSession } from "./open-session.ts";
import type { CommandOptions } from "./terminal.ts";

/** `list` reads files only; `list <server>` starts that server and shows its tools. */
export const list: Command = {
  name: "list",
  help: [
    ["list", "the configured servers (starts none)"],
    ["list <server>", "the tools of one server"],
  ],
  options: SOURCE_OPTIONS,
  async run(input) {
    const words = allWords(input);
    if (words.length > 1) throw new UsageError("list takes at most one server");
    return show(input, words[0]);
  },
};

async function show({ terminal, values, options }: CommandInput, server: string | undefined): Promise<number> {
  const session = openSession(values);
  try {
    if (server === undefined) terminal.write(renderServers(session, terminal.json));
    else terminal.write(await renderTools(session, server, terminal.json, options));
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

function renderServers(session: McpSession, json: boolean): string {
  const rows = session.servers.map((config) => ({
    name: config.name,
    transport: config.target.kind,
    target: displayServer(config),
    source: `${config.source.file}:${config.source.line}`,
  }));
  const untrusted = untrustedRows(session);
  if (json) return `${JSON.stringify({ servers: rows, ...(untrusted.length > 0 && { untrusted }) })}\n`;
  if (rows.length === 0 && untrusted.length === 0)
    return "No MCP servers are configured. See `pi-mcp --help` for the files that are read.\n";
  const configured = rows.map(({ name, target }) => `${sanitizeLine(name, 100)}  ${sanitizeLine(target, 400)}\n`);
  return [...configured, ...untrustedLines(session)].join("");
}

async function renderTools(
  session: McpSession,
  server: string,
  json: boolean,
  options: CommandOptions,
): Promise<string> {
  const listed = await session.listTools(server, { signal: options.signal });
  if (json) {
    const rows = listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    return `${JSON.stringify({ server, tools: rows })}\n`;
  }
  if (listed.length === 0) {
    const none = session.config(server).tools === undefined ? "advertises no tools" : "has no tools that are allowed";
    return [`MCP server \`${server}\` ${none}.`, ...session.status(server).notices, ""].join("\n");
  }
  return listed
    .map(({ name, description = "" }) => `${sanitizeLine(name, 200)}  ${sanitizeLine(description, 200)}`.trimEnd())
    .join("\n")
    .concat("\n");
}
