import { isHeaderValue } from "../config/headers.ts";
import type { ConfiguredSecret, HeadersCommand, ServerConfig } from "../config/record.ts";
import { credentialsOf } from "../config/secrets.ts";
import { createRedactor } from "../content/redact.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError } from "../error.ts";
import { isObject } from "../is-object.ts";
import type { AuthorizedRequest, AuthRefusal, HttpAuth } from "../transport/http-auth.ts";
import { isHeaderName, isOwnHeader } from "../transport/http-client.ts";
import type { Surroundings } from "./open-transport.ts";
import type { CommandFailure } from "./run-command.ts";
import { CATEGORIES, lastWordsOf } from "./value-commands.ts";

type Headers = Readonly<Record<string, string>>;

/** One connection's worth; what signs each request makes more. */
const MAX_SECRETS = 100;

/**
 * Headers that a program of the entry writes, a JSON object of texts, for one connection: once, and once more for a request
 * that is answered 401; or, told of each request, for each. What it writes is a secret. Rejects with McpServerError.
 */
export class CommandedHeaders implements HttpAuth {
  readonly #config: ServerConfig;
  readonly #command: HeadersCommand;
  readonly #surroundings: Surroundings;
  #running: Promise<Headers> | undefined;
  #secrets: readonly ConfiguredSecret[] = [];

  /** `command`: with its variables filled in. */
  constructor(config: ServerConfig, command: HeadersCommand, surroundings: Surroundings) {
    this.#config = config;
    this.#command = command;
    this.#surroundings = surroundings;
  }

  /** All that was written lately; another list when there is something new. */
  get secrets(): readonly ConfiguredSecret[] {
    return this.#secrets;
  }

  /** Runs before the clock of a start does, as a person may have to unlock something. */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#command.per === "request") return;
    this.#running ??= this.#run(undefined, signal);
    await this.#running;
  }

  headers({ method, url, body = "" }: AuthorizedRequest): Promise<Headers> {
    if (this.#command.per === "connection") {
      this.#running ??= this.#run();
      return this.#running;
    }
    const bodyBase64 = Buffer.from(body, "utf8").toString("base64");
    return this.#run(`${JSON.stringify({ version: 1, method, url: url.href, bodyBase64 })}\n`);
  }

  /** Whether there are other headers now [E128]. */
  async refused({ status, attempt, sent }: AuthRefusal): Promise<boolean> {
    if (status !== 401 || attempt > 1) return false;
    if (this.#command.per === "request") return true;
    const before = this.#running;
    // One run for all who were refused with the same.
    if (isWithin((await before) ?? {}, sent) && this.#running === before) this.#running = this.#run();
    return !isWithin((await this.#running) ?? {}, sent);
  }

  async #run(input?: string, signal: AbortSignal = new AbortController().signal): Promise<Headers> {
    const { command, args, env = {}, limitMs } = this.#command;
    const { runCommand, runProgram } = await import("./run-command.ts");
    const { cwd } = this.#surroundings;
    const options = { env: { ...this.#surroundings.env, ...env }, cwd, signal, limitMs, input };
    let output: string;
    try {
      output = await (args === undefined ? runCommand(command, options) : runProgram({ command, args }, options));
    } catch (error) {
      this.#running = undefined;
      const { reason, message, stderr, stdout } = error as CommandFailure;
      const hidden = stdout.split(/[\r\n]+|[",{}]/).filter((text) => text.trim().length > 3);
      const { text } = createRedactor([...secretsOf(hidden), ...secretsOf(Object.values(env))], "patterns");
      throw this.#failure(`${message}${lastWordsOf(stderr, text)}`, CATEGORIES[reason]);
    }
    try {
      const headers = this.#read(output);
      this.#remember(Object.values(headers));
      return headers;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  #read(output: string): Headers {
    let value: unknown;
    try {
      value = JSON.parse(output);
    } catch {
      // Judged below.
    }
    const entries = isObject(value) ? Object.entries(value) : undefined;
    if (!entries?.every(([name, text]) => isHeaderName(name) && typeof text === "string" && isHeaderValue(text))) {
      throw this.#failure("did not write a JSON object of headers, each a text in one line", "other");
    }
    const headers = entries.map(([name, text]): [string, string] => [name.toLowerCase(), String(text).trim()]);
    return Object.fromEntries(headers.filter(([name]) => !isOwnHeader(name)));
  }

  #remember(values: readonly string[]): void {
    const known = new Set(this.#secrets.map(({ value }) => value));
    const fresh = secretsOf(values).filter(({ value }) => !known.has(value));
    if (fresh.length > 0) this.#secrets = [...this.#secrets, ...fresh].slice(-MAX_SECRETS);
  }

  #failure(what: string, category: McpServerError["category"]): McpServerError {
    const { name, source, fields } = this.#config;
    const field = this.#command.per === "request" ? "requestHeadersCommand" : "headersCommand";
    const { file, line } = fields[field] ?? source;
    const text = `the command in "${field}" ${sanitizeLine(what, 1_000)}. Check it in ${file}:${line}`;
    return new McpServerError(name, category, `MCP server \`${name}\`: ${text}`);
  }
}

function secretsOf(values: readonly string[]): ConfiguredSecret[] {
  const forms = values.flatMap((value) => [value, credentialsOf(value)]).filter((value) => value.trim() !== "");
  return forms.map((value) => ({ value, isSecret: true }));
}

function isWithin(headers: Headers, sent: Headers): boolean {
  return Object.entries(headers).every(([name, value]) => sent[name] === value);
}
