import { parseArgs } from "node:util";
import { describeError, McpServerError, messageOf } from "../../error.ts";
import { ArgumentsError } from "../../tools/arguments.ts";
import { CLIENT_INFO } from "../../version.ts";
import { call } from "./call.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";
import { list } from "./list.ts";
import type { Terminal } from "./terminal.ts";
import { trust, trustList, trustRevoke } from "./trust.ts";

const HELP = `pi-mcp ${CLIENT_INFO.version}: use MCP servers from the shell

  pi-mcp list                                 the configured servers (starts none)
  pi-mcp list <server>                        the tools of one server
  pi-mcp call <server> <tool> ['{"a": 1}']    call a tool, arguments as JSON
  pi-mcp call <server> <tool> [key=value …]   the same, typed by the tool's schema

  pi-mcp trust                                what this project's files would run; asks whether to allow it
  pi-mcp trust --yes                          allows it without asking, for scripts
  pi-mcp trust --list                         what has been allowed or denied
  pi-mcp trust --revoke [file]                forgets it, for one file or for all

  --json             print JSON, also for errors
  --timeout SECONDS  limit of a call without progress
  --version, --help

Servers are read from ~/.config/mcp/mcp.json, ~/.pi/agent/mcp.json and ~/.pi/agent/settings.json, and,
once they are allowed, from .mcp.json, .pi/mcp.json and .pi/settings.json in the current folder.

Exit codes: 0 done, 1 the tool reported an error, 2 wrong usage or arguments, 3 no such server, 4 the server cannot be
reached or ended, 5 it needs authorization, 6 time-out, 7 no such tool, 8 it refused the arguments, 9 denied, 10 anything
else, 130 cancelled.
`;

class UsageError extends Error {}

async function main(argv: string[]): Promise<number> {
  const terminal: Terminal = { json: argv.includes("--json"), write: (text) => process.stdout.write(text) };
  // A reader that has seen enough (`| head`) is no failure; a full disk is one.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(EXIT.ok);
    process.exit(report(new Error(`the output could not be written (${code})`), terminal));
  });
  try {
    return await run(argv, terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

async function run(argv: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(argv);
  const [command, ...words] = positionals;
  if (values.version) return print(terminal, `${CLIENT_INFO.version}\n`);
  if (values.help || command === undefined) return print(terminal, HELP);
  const interrupt = new AbortController();
  const onInterrupt = () => (interrupt.signal.aborted ? process.exit(EXIT_OF_CATEGORY.cancelled) : interrupt.abort());
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onInterrupt);
  const options = { signal: interrupt.signal, ...limitOf(values.timeout) };
  switch (command) {
    case "list":
      if (words.length > 1) throw new UsageError("list takes at most one server");
      return list(terminal, words[0], options);
    case "call": {
      const [server, tool, ...rest] = words;
      if (server === undefined || tool === undefined) throw new UsageError("call needs a server and a tool");
      return call(terminal, { server, tool, words: rest }, options);
    }
    case "trust":
      if (words.length > (values.revoke ? 1 : 0)) throw new UsageError("trust takes a file only with --revoke");
      if (values.list) return trustList(terminal);
      if (values.revoke) return trustRevoke(terminal, words[0]);
      return trust(terminal, values.yes === true, interrupt.signal);
    default:
      throw new UsageError(`unknown command \`${command}\` (there are: list, call, trust)`);
  }
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        json: { type: "boolean" },
        timeout: { type: "string" },
        list: { type: "boolean" },
        revoke: { type: "boolean" },
        yes: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function limitOf(seconds: string | undefined): { timeoutMs?: number } {
  if (seconds === undefined) return {};
  const value = Number(seconds);
  if (!(value > 0 && Number.isFinite(value)))
    throw new UsageError(`--timeout takes a number of seconds above 0, not \`${seconds}\``);
  return { timeoutMs: value * 1000 };
}

function print(terminal: Terminal, text: string): number {
  terminal.write(text);
  return EXIT.ok;
}

/** One line that says what failed; what the server said on stderr stands below it, behind a rule. */
function report(error: unknown, terminal: Terminal): number {
  const known = error instanceof McpServerError ? error : undefined;
  const isUsage = error instanceof UsageError || error instanceof ArgumentsError;
  const category = known?.category ?? (isUsage ? "usage" : "other");
  if (terminal.json) {
    const server = known && { server: known.server, ...(known.diagnostics && { diagnostics: known.diagnostics }) };
    console.error(JSON.stringify({ error: { category, ...server, message: messageOf(error) } }));
  } else {
    console.error(`pi-mcp: ${describeError(error)}${error instanceof UsageError ? ". See `pi-mcp --help`." : ""}`);
  }
  return isUsage ? EXIT.usage : EXIT_OF_CATEGORY[known?.category ?? "other"];
}

process.exitCode = await main(process.argv.slice(2));
