import { isAbsolute } from "node:path";
import type { EntryReader } from "./entry-reader.ts";
import { readHeaders, reportEmptyCommand } from "./headers.ts";
import { readHeadersCommand } from "./headers-command.ts";
import { quote, quoteWord } from "./problems.ts";
import type { HttpTarget, ServerTarget, StdioTarget } from "./record.ts";
import { holdsVariable, type VariableForms } from "./variables.ts";

/**
 * What an entry says about how to reach its server, or `undefined` after reporting why that cannot be told. A `url`
 * means Streamable HTTP (S3-43) unless the older transport is named, a `command` means stdio. Both together are a mistake.
 */
export function readTarget(reader: EntryReader, forms: VariableForms): ServerTarget | undefined {
  const declared = declaredTransport(reader);
  const [command, ...commandArgs] = reader.words("command");
  const url = reader.text("url");
  if (reader.failed) return undefined;
  if (command !== undefined && url !== undefined) {
    reader.error("url", 'has both a "command" and a "url"; remove one of them.');
    return undefined;
  }
  if ((declared === "http" || declared === "sse") && url === undefined) {
    reader.error(declaringField(reader), 'is declared as an HTTP server, but has no "url"; add its address.');
    return undefined;
  }
  if (declared === "stdio" && command === undefined) {
    reader.error(
      declaringField(reader),
      'is declared as a stdio server, but has no "command"; add the program to run.',
    );
    return undefined;
  }
  if (command !== undefined) return readStdio(reader, forms, command, commandArgs);
  if (url !== undefined) return readHttp(reader, forms, declared === "sse" ? "sse" : "http", url);
  reader.error(
    reader.has("command") ? "command" : reader.has("url") ? "url" : undefined,
    'has neither a "command" to run nor a "url" to connect to.',
  );
  return undefined;
}

/** Fields in which dialects name the transport; the first that is present counts. */
const TRANSPORT_FIELDS = ["type", "transport"];

/** Spellings in use, without case, `-` and `_`. */
const TRANSPORTS: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  streamablehttp: "http",
  remote: "http",
  sse: "sse",
};

function declaringField(reader: EntryReader): string | undefined {
  return TRANSPORT_FIELDS.find((field) => reader.has(field));
}

/** The transport the entry names, if it does (S1-10: none is stdio unless there is a `url`). */
function declaredTransport(reader: EntryReader): "stdio" | "http" | "sse" | undefined {
  const field = declaringField(reader);
  const written = field === undefined ? undefined : reader.text(field);
  if (field === undefined || written === undefined) return undefined;
  const transport = transportOf(written);
  if (transport === undefined)
    reader.error(field, `the transport ${quoteWord(written)} is not known; use "stdio", "http" or "sse".`);
  return transport;
}

/** The transport a word of any dialect means. */
export function transportOf(written: unknown): "stdio" | "http" | "sse" | undefined {
  const name = typeof written === "string" ? written.toLowerCase().replace(/[-_]/g, "") : "";
  return Object.hasOwn(TRANSPORTS, name) ? TRANSPORTS[name] : undefined;
}

/** Arguments in `command` stand before those in `args`. */
function readStdio(
  reader: EntryReader,
  forms: VariableForms,
  command: string,
  commandArgs: readonly string[],
): StdioTarget {
  const args = [...commandArgs, ...reader.texts("args")];
  const cwd = reader.text("cwd");
  const env: [string, string][] = [];
  for (const [name, { field, value }] of reader.textMap("env")) {
    if (name === "" || /[=\0]/.test(name))
      reader.errorAt(field, `${quote(nameAlone(name))} in "env" cannot be the name of a variable.`);
    if (value.includes("\0")) reader.errorAt(field, `the value of ${quote(name)} in "env" holds a NUL character.`);
    reportEmptyCommand(reader, forms, name, { field, value });
    env.push([name, value]);
  }
  // `"C:\new"` is valid JSON with a line feed in it: say what the person must mean.
  const control = 'holds a control character; write a backslash twice ("\\\\").';
  if (/\p{Cc}/u.test(command)) reader.error("command", `"command" ${control}`);
  if (cwd !== undefined && /\p{Cc}/u.test(cwd)) reader.error("cwd", `"cwd" ${control}`);
  if (args.some((arg) => arg.includes("\0")))
    reader.error("args", '"args" holds a NUL character, which no program can be given.');
  return { kind: "stdio", command, args, env: Object.fromEntries(env), ...(cwd === undefined ? {} : { cwd }) };
}

function readHttp(reader: EntryReader, forms: VariableForms, kind: HttpTarget["kind"], url: string): HttpTarget {
  // An address with a variable in it can only be judged once that is known.
  if (!holdsVariable(url, forms) && !isHttpUrl(url)) {
    reader.error("url", '"url" must be a complete http or https address, such as "https://example.com/mcp".');
  }
  const headersCommand = readHeadersCommand(reader);
  const target = { kind, url, ...readHeaders(reader, forms), ...readTlsFiles(reader) };
  return headersCommand === undefined ? target : { ...target, headersCommand };
}

/** Somebody wrote `TOKEN=x` as the name: the value is not repeated. */
function nameAlone(name: string): string {
  return name.includes("=") ? name.slice(0, name.indexOf("=") + 1) : name;
}

const TLS_FIELDS = ["ca", "cert", "key"] as const;

/**
 * Paths have to be complete, since there is no one folder that all could be meant to be relative to. What begins with `~`
 * or a variable counts as complete.
 */
function readTlsFiles(reader: EntryReader): Pick<HttpTarget, (typeof TLS_FIELDS)[number]> {
  const files: { [field in (typeof TLS_FIELDS)[number]]?: string } = {};
  for (const field of TLS_FIELDS) {
    const file = reader.text(field);
    if (file === undefined) continue;
    if (!isAbsolute(file) && !/^(?:[~$]|\{env:)/.test(file)) {
      reader.error(
        field,
        `"${field}" must be the complete path of a file in PEM form, such as "~/certs/${field}.pem".`,
      );
    }
    files[field] = file;
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    reader.error(files.cert === undefined ? "key" : "cert", '"cert" and "key" are of use only together; name both.');
  }
  return files;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
