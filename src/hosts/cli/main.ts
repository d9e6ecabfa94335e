import { parseArgs } from "node:util";
import { escapeUnseen, visibleJson } from "../../content/json.ts";
import { sanitizeProse, sanitizeText } from "../../content/sanitize.ts";
import { describeError, McpServerError, messageOf } from "../../error.ts";
import { ArgumentsError } from "../../tools/arguments.ts";
import { CLIENT_INFO } from "../../version.ts";
import { type Command, type CommandInput, textOption, UsageError } from "./command.ts";
import { COMMANDS, HELP } from "./commands.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

/** Options of every command. */
const COMMON = {
  json: { type: "boolean" },
  timeout: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

async function main(argv: string[]): Promise<number> {
  const command = commandOf(argv);
  const end = argv.indexOf("--");
  const json = command?.options?.json === undefined && argv.slice(0, end === -1 ? undefined : end).includes("--json");
  const terminal: Terminal = { json, write: (text) => process.stdout.write(json ? fitJson(text) : sanitizeText(text)) };
  // A reader that has seen enough (`| head`) is no failure; a full disk is one.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(EXIT.ok);
    process.exit(report(new Error(`the output could not be written (${code})`), terminal));
  });
  try {
    return await run(argv, command, terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

/** What commands write as JSON is a line, or several. */
function fitJson(text: string): string {
  return text.split("\n").map(escapeUnseen).join("\n");
}

async function run(argv: string[], command: Command | undefined, terminal: Terminal): Promise<number> {
  const { values, words, rest } = parse(argv, command);
  if (values.version) return print(terminal, `${CLIENT_INFO.version}\n`);
  if (values.help || words[0] === undefined) return print(terminal, HELP);
  if (command === undefined) {
    const names = COMMANDS.map(({ name }) => name).join(", ");
    throw new UsageError(`unknown command \`${words[0]}\` (there are: ${names})`);
  }
  const interrupt = new AbortController();
  const onInterrupt = () => (interrupt.signal.aborted ? process.exit(EXIT_OF_CATEGORY.cancelled) : interrupt.abort());
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onInterrupt);
  const options = { signal: interrupt.signal, ...limitOf(textOption(values, "timeout")) };
  return command.run({ terminal, words: words.slice(1), rest, values, options });
}

/** The command, before its options can be told from words: only options of all or most commands may stand before it. */
function commandOf(argv: string[]): Command | undefined {
  const options = { ...COMMON, ...SOURCE_OPTIONS };
  const { tokens } = parseArgs({ args: argv, strict: false, allowPositionals: true, tokens: true, options });
  const word = tokens.find(({ kind }) => kind === "positional");
  return COMMANDS.find(({ name }) => word?.kind === "positional" && name === word.value);
}

function parse(argv: string[], command: Command | undefined): Pick<CommandInput, "values" | "words" | "rest"> {
  try {
    const options = { ...COMMON, ...command?.options };
    const { values, tokens } = parseArgs({ args: argv, allowPositionals: true, tokens: true, options });
    const end = tokens.find(({ kind }) => kind === "option-terminator");
    const words = tokens.filter((token) => token.kind === "positional");
    return {
      values,
      words: words.filter(({ index }) => end === undefined || index < end.index).map(({ value }) => value),
      rest: end && words.filter(({ index }) => index > end.index).map(({ value }) => value),
    };
  } catch (error) {
    // Node adds a way to write it that fits no command of ours.
    const message = messageOf(error).replace(/\. To specify a positional argument .*$|\.?\n.*$/s, "");
    const isUnknown = error instanceof Error && "code" in error && error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
    throw new UsageError(isUnknown && command?.optionHint ? `${message}; ${command.optionHint}` : message);
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
    console.error(visibleJson({ error: { category, ...server, message: messageOf(error) } }));
  } else {
    console.error(
      `pi-mcp: ${sanitizeProse(describeError(error))}${error instanceof UsageError ? ". See `pi-mcp --help`." : ""}`,
    );
  }
  return isUsage ? EXIT.usage : EXIT_OF_CATEGORY[known?.category ?? "other"];
}

process.exitCode = await main(process.argv.slice(2));
