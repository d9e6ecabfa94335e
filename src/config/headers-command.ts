import { fieldsOf } from "./entries.ts";
import { type EntryReader, kindOf } from "./entry-reader.ts";
import type { HeadersCommand } from "./record.ts";

/** As for commands that stand for values. */
const USUAL_LIMIT_MS = 10_000;

/** The field for each way of running it; the more special one first. */
const FIELDS = [
  ["requestHeadersCommand", "request"],
  ["headersCommand", "connection"],
] as const;

/**
 * The program that writes the headers of an entry: `headersCommand`, a command line or `{command, args, env, timeoutMs}`, or
 * `requestHeadersCommand`, the latter form alone, which signs each request.
 */
export function readHeadersCommand(reader: EntryReader): HeadersCommand | undefined {
  const [first, ...others] = FIELDS.filter(([name]) => reader.has(name));
  for (const [name] of others) reader.warning(name, `"${name}" is not used, because there is "${first?.[0]}" as well.`);
  return first && readOne(reader, first[0], first[1]);
}

function readOne(reader: EntryReader, name: string, per: HeadersCommand["per"]): HeadersCommand | undefined {
  const field = reader.field(name);
  if (field?.value.type === "string" && per === "connection") {
    const command = reader.text(name)?.replace(/^!\s*/, "") ?? "";
    if (command === "") reader.error(name, `"${name}" names no program.`);
    return { per, command, limitMs: USUAL_LIMIT_MS };
  }
  if (field?.value.type !== "object") {
    const form = per === "request" ? "an object" : "a command line or an object";
    reader.error(name, `"${name}" must be ${form} with "command" and "args".`);
    return undefined;
  }
  const within = fieldsOf(field.document, field.value);
  const wrong = (key: string, wanted: string) => {
    const given = within.get(key);
    if (given) reader.errorAt(given, `"${key}" in "${name}" must be ${wanted}, not ${kindOf(given.value)}.`);
  };
  const [command, args, env, limit] = ["command", "args", "env", "timeoutMs"].map((key) => within.get(key)?.value);
  if (command?.type !== "string" || String(command.value).trim() === "") {
    reader.error(name, `"${name}" needs "command", the program to run.`);
  }
  const items = args?.children ?? [];
  if (args && (args.type !== "array" || items.some(({ type }) => type !== "string"))) wrong("args", "a list of texts");
  const variables = env?.type === "object" ? [...fieldsOf(field.document, env)] : [];
  if (env && (env.type !== "object" || variables.some(([, each]) => each.value.type !== "string"))) {
    wrong("env", "an object of texts");
  }
  const limitMs = limit === undefined ? USUAL_LIMIT_MS : Number(limit.value);
  if (limit && (limit.type !== "number" || limitMs <= 0)) wrong("timeoutMs", "a number of milliseconds above zero");
  return {
    per,
    command: String(command?.value ?? "").trim(),
    args: items.map(({ value }) => String(value)),
    env: Object.fromEntries(variables.map(([key, each]) => [key, String(each.value.value)])),
    limitMs,
  };
}
