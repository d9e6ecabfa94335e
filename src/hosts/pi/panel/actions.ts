import { isDeepStrictEqual } from "node:util";
import { EditError } from "../../../config/edit-entries.ts";
import { maySignIn } from "../../../config/may-sign-in.ts";
import { quote, visible } from "../../../config/problems.ts";
import { switchServer } from "../../../config/switch.ts";
import { sanitizeLine } from "../../../content/sanitize.ts";
import { describeDiagnosis } from "../../../session/describe-diagnosis.ts";
import { diagnose } from "../../../session/diagnose.ts";
import { describePinChange } from "../../../session/pin-diff.ts";
import { reportServer } from "../../../session/report.ts";
import type { McpSession } from "../../../session/session.ts";
import type { ConfigHost } from "./host.ts";
import type { PanelActions, ToolChanges } from "./options.ts";

const DESCRIPTION_CHARS = 200;

/** What a person can do with a server, by the panel or by a command. */
export interface ServerActions extends PanelActions {
  tools(server: string): Promise<string>;
  log(server: string): string;
}

function toolChanges(session: McpSession, server: string): ToolChanges {
  const { changes } = session.pins(server);
  const text = changes
    .map((change) =>
      [`${sanitizeLine(change.tool, DESCRIPTION_CHARS)} (${change.kind})`, ...describePinChange(change)].join("\n  "),
    )
    .join("\n\n");
  return {
    text,
    count: changes.length,
    async accept() {
      if (!isDeepStrictEqual(session.pins(server).changes, changes)) {
        throw new Error(
          `The tools of MCP server ${quote(server)} have changed again meanwhile: look at them once more.`,
        );
      }
      const names = await session.acceptPins(
        server,
        changes.map(({ tool }) => tool),
      );
      return `Accepted ${names.length === 1 ? "1 tool" : `${names.length} tools`} of MCP server ${quote(server)}.`;
    },
  };
}

export function serverActions(host: ConfigHost, session: McpSession): ServerActions {
  return {
    async reconnect(server) {
      assertUsed(session, server);
      await session.reconnect(server);
      return reportServer(session, server);
    },
    async switchTo(server, on) {
      const { file, line, isChanged } = await switchServer(session, server, on);
      host.reload();
      const word = on ? "enabled" : "disabled";
      const where = `${visible(file)}:${line}`;
      if (!isChanged) return `${quote(server)} was ${word} already: ${where}`;
      const { servers = [], untrusted = [] } = host.config ?? {};
      const isOn = servers.some(({ name }) => name === server);
      const waits = untrusted.some((each) => each.file === file || each.realPath === file);
      const note = waits
        ? " It is a file of this project, whose servers run again once you have allowed its new content: /mcp trust."
        : isOn === on
          ? ""
          : ` It is still ${isOn ? "on" : "not in use"}, because of what stands elsewhere.`;
      return `${word} ${quote(server)}: ${where}.${note}`;
    },
    async logout(server) {
      const wasSignedIn = await session.signIn(server).logout();
      return wasSignedIn
        ? `Signed out of MCP server ${quote(server)}.`
        : `There was no sign-in to MCP server ${quote(server)}.`;
    },
    async check(server) {
      const surroundings = { env: process.env, cwd: host.cwd };
      const found = await Promise.all(diagnose(session, surroundings, server));
      return found.map(describeDiagnosis).join("\n");
    },
    changes(server) {
      try {
        return toolChanges(session, server);
      } catch (error) {
        // A record that cannot be read, or a server that is gone.
        return { text: "", count: 0, accept: () => Promise.reject(error) };
      }
    },
    async signInState(server) {
      const config = session.servers.find(({ name }) => name === server);
      if (config === undefined || !maySignIn(config)) return undefined;
      return (await session.signIn(server).status()).state.replace("-", " ");
    },
    async tools(server) {
      assertUsed(session, server);
      const tools = await session.listTools(server);
      const lines = tools.map(({ name, description = "" }) =>
        `  ${sanitizeLine(name, DESCRIPTION_CHARS)}  ${sanitizeLine(description, DESCRIPTION_CHARS)}`.trimEnd(),
      );
      return [
        `MCP server ${quote(server)} has ${tools.length === 1 ? "1 tool" : `${tools.length} tools`}.`,
        ...lines,
      ].join("\n");
    },
    log(server) {
      assertUsed(session, server);
      const words = session.words(server);
      return words === "" ? `MCP server ${quote(server)} has written nothing to stderr.` : words;
    },
  };
}

/** Says how one that is switched off is switched on from here; the session knows the command line alone. */
function assertUsed(session: McpSession, server: string): void {
  const entry = session.unused.find(({ name }) => name === server);
  if (entry?.reason === "disabled") {
    const { file, line } = entry.source;
    const how =
      entry.remedy === undefined ? "take that out to use it" : `/mcp enable ${visible(server)} switches it on`;
    throw new EditError(
      "failed",
      `MCP server ${quote(server)} is disabled at ${visible(file)}:${line}; ${how}.`,
      server,
    );
  }
  session.config(server);
}
