import { type ExpandedTarget, expandTarget, valueCommands } from "../config/expand.ts";
import { isHeaderValue } from "../config/headers.ts";
import type { ServerConfig, ValueCommand } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import { type ErrorCategory, McpServerError } from "../error.ts";
import type { Surroundings } from "./open-transport.ts";
import { CommandFailure, runCommand } from "./run-command.ts";

/** The end of what a failed command said. */
const LAST_WORDS_CHARS = 300;

/**
 * The target of a server that is being started: its commands (`!command`) run and its variables filled in. Commands run
 * side by side, each text once, in the session's folder with the session's environment. Their limit is their own, since
 * what a person's password store takes is not the server's time. Nothing is kept for another start, which so gets a
 * token that is fresh. Rejects with an McpServerError that names the value, and neither what was run nor what was
 * written; by then every command has ended.
 */
export async function fillIn(
  config: ServerConfig,
  { env, cwd }: Surroundings,
  signal: AbortSignal,
  limitMs?: number,
): Promise<ExpandedTarget> {
  const { target, policy } = config;
  const values = valueCommands(target, policy.variableForms);
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const options = { env, cwd, signal: both, ...(limitMs !== undefined && { limitMs }) };
  const outputs = new Map<string, string>();
  const failures: { value: ValueCommand; failure: CommandFailure }[] = [];

  async function fill(command: string, [first, ...rest]: readonly [ValueCommand, ...ValueCommand[]]): Promise<void> {
    let value = first;
    try {
      const output = await runCommand(command, options);
      for (value of [first, ...rest]) mustFit(output, value);
      outputs.set(command, output);
    } catch (error) {
      failures.push({ value, failure: error as CommandFailure });
      over.abort();
    }
  }

  const commands = new Map<string, [ValueCommand, ...ValueCommand[]]>();
  for (const value of values) {
    const same = commands.get(value.command);
    if (same === undefined) commands.set(value.command, [value]);
    else same.push(value);
  }
  await Promise.all([...commands].map(([command, same]) => fill(command, same)));
  const [failed] = failures;
  if (failed === undefined) return expandTarget(target, policy, env, outputs);
  const blank = new Map([...commands.keys()].map((command) => [command, outputs.get(command) ?? ""]));
  const { secrets } = expandTarget(target, policy, env, blank);
  throw toError(config, failed.value, failed.failure, (text, written) => {
    const lines = written.split(/[\r\n]+/).filter((line) => line.trim() !== "");
    const hidden = [written, ...lines].map((value) => ({ value, isSecret: true }));
    return createRedactor([...secrets, ...hidden], "patterns").text(text);
  });
}

/** What neither a header nor the environment of a process can carry would fail later, in words that may hold it. */
function mustFit(output: string, { as }: ValueCommand): void {
  if (output.includes("\0")) throw new CommandFailure("failed", "wrote a NUL character");
  if (as === "header" && !isHeaderValue(output)) {
    throw new CommandFailure("failed", "wrote more than one line, or another character that headers cannot carry");
  }
}

const CATEGORIES: Readonly<Record<CommandFailure["reason"], ErrorCategory>> = {
  failed: "other",
  timeout: "timeout",
  cancelled: "cancelled",
};

function toError(
  { name: server, source }: ServerConfig,
  { as, name }: ValueCommand,
  { reason, message, stderr, stdout }: CommandFailure,
  redact: (text: string, written: string) => string,
): McpServerError {
  if (reason === "cancelled") {
    return new McpServerError(server, "cancelled", `MCP server \`${server}\`: the request was cancelled`);
  }
  // Redacted before it is cut, or half a secret would be left that nobody recognises.
  const words = [...sanitizeLine(redact(sanitizeText(stderr), stdout), Number.POSITIVE_INFINITY)]
    .slice(-LAST_WORDS_CHARS)
    .join("");
  const said = words === "" ? "" : `, saying: ${words.replace(/[.\s]+$/, "")}`;
  const where = `Check it in ${source.file}:${source.line}`;
  const text = `the command ("!…") for the ${as} "${sanitizeLine(name, 100)}" ${message}${said}. ${where}`;
  return new McpServerError(server, CATEGORIES[reason], `MCP server \`${server}\` failed to initialize: ${text}`);
}
