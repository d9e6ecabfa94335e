import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { openBrowser } from "../../auth/browser.ts";
import { maySignIn } from "../../config/may-sign-in.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { McpServerError, messageOf } from "../../error.ts";
import type { McpSession } from "../../session/session.ts";
import { IMPORT_OPTIONS, importSignIns } from "./auth-import.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";

/** Signing in to servers. What is left without a sign-in ends with the code of "needs authorization". */
export const auth: Command = {
  name: "auth",
  help: [
    ["auth login <server>", "sign in: opens the browser, or takes what it ended at on stdin"],
    [
      "auth complete <server> [address]",
      "completes a sign-in that was started with --no-wait; reads the address from stdin",
    ],
    ["auth status [server]", "who is signed in"],
    ["auth logout <server>", "forgets a sign-in, here and at the server"],
    ["auth import [server]", "takes over sign-ins of pi, pi-mcp-adapter and mcporter (--from, --dry-run, --force)"],
  ],
  options: { ...SOURCE_OPTIONS, "no-wait": { type: "boolean" }, "no-browser": { type: "boolean" }, ...IMPORT_OPTIONS },
  async run(input) {
    const [action = "", server, pasted, ...more] = allWords(input);
    const session = openSession(input.values);
    try {
      if (action === "import" && pasted === undefined) return await importSignIns(input, session, server);
      if (action === "status" && pasted === undefined) return await status(input, session, server);
      if (action === "complete" && server !== undefined && more.length === 0) {
        const answer = pasted ?? (await readPasted(input));
        if (input.options.signal.aborted) throw cancelled(server);
        await session.signIn(server).complete(answer);
        return said(input, server, "signed-in", `Signed in to MCP server \`${shown(server)}\`.\n`);
      }
      if (server === undefined || pasted !== undefined) throw new UsageError(USAGE);
      if (action === "login") return await login(input, session, server);
      if (action === "logout") return await logout(input, session, server);
      throw new UsageError(USAGE);
    } finally {
      await session.close();
    }
  },
};

const USAGE =
  "auth takes login, complete, status, logout or import, and the name of a server (complete: also the address the browser ended at, as an argument or on stdin)";

function shown(name: string): string {
  return sanitizeLine(name, 100);
}

function said({ terminal }: CommandInput, server: string, state: string, text: string): number {
  terminal.write(terminal.json ? `${JSON.stringify({ server, state })}\n` : text);
  return EXIT.ok;
}

async function login(input: CommandInput, session: McpSession, server: string): Promise<number> {
  const { terminal, values, options } = input;
  const waits = values["no-wait"] !== true;
  const flow = await session.signIn(server).start({ listens: waits });
  const { url, redirectUri, notice } = flow;
  if (terminal.json) terminal.write(`${JSON.stringify({ server, url, redirectUri, ...(notice && { notice }) })}\n`);
  else {
    terminal.write(`To sign in to MCP server \`${shown(server)}\`, open this address:\n\n${url}\n\n`);
    if (notice) console.error(`pi-mcp: ${notice}.`);
  }
  if (!waits) {
    if (!terminal.json)
      terminal.write(`Then run: pi-mcp auth complete ${shown(server)}\nand paste the address the browser ended at.\n`);
    flow.cancel("it is completed later");
    return EXIT_OF_CATEGORY["needs-auth"];
  }
  // Before anybody is told to paste, since nothing of that is to be shown.
  const lines = readLines((line) => {
    // It is over, or goes on; the one who waits below is told.
    flow.complete(line).catch((error: unknown) => console.error(`pi-mcp: ${messageOf(error)}`));
  });
  if (!terminal.json && values["no-browser"] !== true) openBrowser(url, process.env);
  if (!terminal.json) {
    const hidden = process.stdin.isTTY ? " What is pasted is not shown." : "";
    terminal.write(
      `If the browser cannot come back here, paste the address it ended at, or the code, and press Enter.${hidden}\n`,
    );
  }
  const cancel = () => flow.cancel("cancelled");
  options.signal.addEventListener("abort", cancel, { once: true });
  const limit =
    options.timeoutMs === undefined ? undefined : setTimeout(() => flow.cancel(TOO_LATE), options.timeoutMs);
  try {
    await flow.done;
  } catch (error) {
    throw options.signal.aborted ? cancelled(server) : error;
  } finally {
    clearTimeout(limit);
    lines.close();
    process.stdin.unref?.();
  }
  return said(input, server, "signed-in", `Signed in to MCP server \`${shown(server)}\`.\n`);
}

function cancelled(server: string): McpServerError {
  return new McpServerError(server, "cancelled", "the sign-in was cancelled");
}

const TOO_LATE = "nobody signed in within the time that was given";

/**
 * What a person pastes, line by line. A terminal's own lines end at 4096 characters, which an address with a code may well
 * have, and would be shown with the code in them; so there the keys are read one by one.
 */
function readLines(take: (line: string) => void): Interface {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal, historySize: 0 });
  lines.on("line", (line) => {
    if (line.trim() !== "") take(line);
  });
  // Ctrl-C is a key like any other then.
  lines.on("SIGINT", () => void process.emit("SIGINT", "SIGINT"));
  return lines;
}

/** What is given as an argument others on this computer can read, and a shell remembers; what is pasted they cannot. */
async function readPasted({ terminal, options }: CommandInput): Promise<string> {
  const text = await new Promise<string>((resolve) => {
    const lines = readLines((line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => resolve(""));
    if (process.stdin.isTTY) {
      terminal.write("Paste the address the browser ended at, or the code, and press Enter. It is not shown.\n");
    }
    options.signal.addEventListener("abort", () => lines.close(), { once: true });
  });
  process.stdin.unref?.();
  if (text === "" && !options.signal.aborted) throw new UsageError(USAGE);
  return text;
}

async function logout(input: CommandInput, session: McpSession, server: string): Promise<number> {
  const had = await session.signIn(server).logout();
  const text = had ? "Signed out of" : "There was no sign-in to";
  return said(input, server, "signed-out", `${text} MCP server \`${shown(server)}\`.\n`);
}

async function status(input: CommandInput, session: McpSession, server: string | undefined): Promise<number> {
  const { terminal } = input;
  const names =
    server === undefined ? session.servers.filter((config) => maySignIn(config)).map(({ name }) => name) : [server];
  const rows = await Promise.all(
    names.map(async (name) => ({ server: name, ...(await session.signIn(name).status()) })),
  );
  if (terminal.json) terminal.write(`${JSON.stringify({ servers: rows })}\n`);
  else if (rows.length === 0) terminal.write("No configured server is one that is signed in to.\n");
  for (const row of terminal.json ? [] : rows) {
    const until = row.expiresAt === undefined ? "" : `, until ${new Date(row.expiresAt * 1000).toISOString()}`;
    const how = row.renewable ? ", renewed by itself" : "";
    const facts = row.state === "signed-in" ? `${until}${how}` : "";
    terminal.write(`${shown(row.server)}  ${row.state.replace("-", " ")}${facts}\n`);
  }
  const isWanting = server !== undefined && rows.some(({ state }) => state !== "signed-in");
  return isWanting ? EXIT_OF_CATEGORY["needs-auth"] : EXIT.ok;
}
