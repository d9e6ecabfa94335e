import type { PinChange } from "../../catalog/pins/definition.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { describePinChange } from "../../session/pin-diff.ts";
import type { McpSession, ServerPinState } from "../../session/session.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";

const USAGE = "pins takes nothing, the name of a server, or `accept`, the name of a server and one of its tools";

/** What has changed of servers' tools since a person accepted them. Starts no server. */
export const pins: Command = {
  name: "pins",
  help: [
    ["pins [server]", "what of a server's tools has changed since you accepted them (starts none)"],
    ["pins accept <server> [tool]", "accepts its tools, or one of them, as they are now"],
  ],
  options: SOURCE_OPTIONS,
  async run(input) {
    const words = allWords(input);
    const [first, server, tool, ...more] = words;
    const accepts = first === "accept" && server !== undefined;
    if (more.length > 0 || (!accepts && words.length > 1)) throw new UsageError(USAGE);
    const session = openSession(input.values);
    try {
      return accepts ? await accept(input, session, server, tool) : show(input, session, first);
    } finally {
      await session.close();
    }
  },
};

async function accept({ terminal }: CommandInput, session: McpSession, server: string, tool?: string): Promise<number> {
  const { changes } = session.pins(server);
  const names = await session.acceptPins(server, tool === undefined ? undefined : [tool]);
  const accepted = changes.filter((change) => names.includes(change.tool));
  if (terminal.json) terminal.write(`${JSON.stringify({ server, accepted })}\n`);
  else {
    // Once more, since it may have changed since it was looked at.
    const what = accepted.length === 0 ? "nothing was waiting" : `accepted ${accepted.length}`;
    terminal.write(`${sanitizeLine(server, 100)}: ${what}\n${accepted.map(describeChange).join("")}`);
  }
  return EXIT.ok;
}

function show({ terminal }: CommandInput, session: McpSession, name: string | undefined): number {
  const names = name === undefined ? session.servers.map((server) => server.name) : [name];
  const rows = names.map((server) => ({ server, ...session.pins(server) }));
  if (terminal.json) terminal.write(`${JSON.stringify({ servers: rows })}\n`);
  else if (rows.length === 0) terminal.write("No MCP servers are configured.\n");
  else for (const row of rows) terminal.write(describe(row, name !== undefined));
  return EXIT.ok;
}

function describe({ server, state, changes }: ServerPinState & { server: string }, isWhole: boolean): string {
  const name = sanitizeLine(server, 100);
  if (state !== "pinned") return `${name}: ${STATES[state]}\n`;
  if (changes.length === 0) return `${name}: all tools are as they were accepted\n`;
  const counts = (["changed", "new"] as const).flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  const head = `${name}: ${counts.join(", ")}\n`;
  if (!isWhole) return head;
  return `${head}${changes.map(describeChange).join("")}\npi-mcp pins accept ${name} accepts them all, with a tool's name that one.\n`;
}

function describeChange(change: PinChange): string {
  const lines = describePinChange(change).map((line) => `  ${line}\n`);
  return `\n${sanitizeLine(change.tool, 200)} (${change.kind})\n${lines.join("")}`;
}

const STATES = {
  off: 'not pinned ("pin" is "off")',
  unlisted: "no list of its tools was accepted yet; the first one is (`pi-mcp list` and its name)",
} as const;
