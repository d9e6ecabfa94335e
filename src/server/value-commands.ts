import { expandTarget } from "../config/expand.ts";
import { isHeaderValue } from "../config/headers.ts";
import type { ServerConfig, ValueCommand } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import { type ErrorCategory, McpServerError } from "../error.ts";
import { cancelled } from "./failure.ts";
import type { Surroundings } from "./open-transport.ts";
import type { CommandFailure } from "./run-command.ts";

/** The end of what a failed command said. */
const LAST_WORDS_CHARS = 300;

/** More are more than a computer does at once, and a password store may answer one at a time anyway. */
const MAX_AT_ONCE = 8;

type Values = [ValueCommand, ...ValueCommand[]];

/**
 * Runs the commands of a server that is being started, side by side and each text once, in the session's folder with the
 * session's environment; gives what they write, by the command. Their limit is their own, since what a person's password
 * store takes is not the server's time. Rejects with an McpServerError that names the value, and neither what was run
 * nor what was written; by then every command has ended.
 */
export async function runValueCommands(
  config: ServerConfig,
  values: readonly ValueCommand[],
  { env, cwd }: Surroundings,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  // With all it takes to start processes, which a session without any has no need of.
  const { CommandFailure, runCommand } = await import("./run-command.ts");
  const over = new AbortController();
  const options = { env, cwd, signal: AbortSignal.any([signal, over.signal]) };
  const outputs = new Map<string, string>();
  const failures: { value: ValueCommand; failure: CommandFailure }[] = [];

  async function fill(command: string, values: Values): Promise<void> {
    let [value] = values;
    try {
      const output = await runCommand(command, options);
      for (value of values) {
        const misfit = misfitOf(output, value);
        if (misfit !== undefined) throw new CommandFailure("failed", misfit);
      }
      outputs.set(command, output);
    } catch (error) {
      failures.push({ value, failure: error as CommandFailure });
      over.abort();
    }
  }

  const commands = new Map<string, Values>();
  for (const value of values) {
    const same = commands.get(value.command);
    if (same === undefined) commands.set(value.command, [value]);
    else same.push(value);
  }
  const waiting = [...commands];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await fill(...next);
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
  const [first] = failures;
  if (first === undefined) return outputs;
  const known = new Map([...commands.keys()].map((command) => [command, outputs.get(command) ?? ""]));
  throw toError(config, first.value, first.failure, redactorFor(config, env, known, first.failure.stdout));
}

/** Takes out of a failed command's words what is configured, what the others wrote, and what it had written itself. */
function redactorFor(
  { target, policy }: ServerConfig,
  env: NodeJS.ProcessEnv,
  outputs: ReadonlyMap<string, string>,
  stdout: string,
): (text: string) => string {
  const { secrets } = expandTarget(target, policy, env, outputs);
  const written = [stdout, ...stdout.split(/[\r\n]+/)].filter((text) => text.trim() !== "");
  const hidden = written.map((value) => ({ value, isSecret: true }));
  return createRedactor([...secrets, ...hidden], "patterns").text;
}

/** What neither a header nor the environment of a process can carry would fail later, in words that may hold it. */
function misfitOf(output: string, { field }: ValueCommand): string | undefined {
  if (output.includes("\0")) return "wrote a NUL character";
  if (field === "env" || isHeaderValue(output)) return undefined;
  return "wrote more than one line, or another character that headers cannot carry";
}

export const CATEGORIES: Readonly<Record<CommandFailure["reason"], ErrorCategory>> = {
  failed: "other",
  timeout: "timeout",
  cancelled: "cancelled",
};

/** The end of what a failed command said, for a sentence: `, saying: …`; empty when it said nothing. */
export function lastWordsOf(stderr: string, redact: (text: string) => string): string {
  // Redacted before it is cut, or half a secret would be left that nobody recognises.
  const words = [...sanitizeLine(redact(sanitizeText(stderr)), Number.POSITIVE_INFINITY)]
    .slice(-LAST_WORDS_CHARS)
    .join("");
  return words === "" ? "" : `, saying: ${words.replace(/[.\s]+$/, "")}`;
}

function toError(
  config: ServerConfig,
  { field, name }: ValueCommand,
  { reason, message, stderr }: CommandFailure,
  redact: (text: string) => string,
): McpServerError {
  if (reason === "cancelled") return cancelled(config);
  const { name: server, source, fields } = config;
  const said = lastWordsOf(stderr, redact);
  const { file, line } = fields[field] ?? source;
  const where = `Check it in ${file}:${line}`;
  const as = field === "env" ? "variable" : "header";
  const text = `the command ("!…") for the ${as} "${sanitizeLine(name, 100)}" ${message}${said}. ${where}`;
  return new McpServerError(server, CATEGORIES[reason], `MCP server \`${server}\` failed to initialize: ${text}`);
}
