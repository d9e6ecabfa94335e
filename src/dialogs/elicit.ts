import type { Elicitation, ElicitationAnswer } from "../protocol/handlers.ts";
import { type Asker, selectPaged, showPages } from "./asker.ts";
import { checkChosen, checkTyped, describeKind, type Field, readForm } from "./form.ts";
import { addressLines, nameOf, pagesOf, valueLine, words } from "./text.ts";

const MESSAGE_LINES = 12;
const MESSAGE_CHARS = 1_000;
const VALUE_CHARS = 200;
/** Of an address that is asked about; more is shown when somebody wants it. */
const ADDRESS_LINES = 4;
/** Longer ones than any browser takes everywhere. */
const MAX_ADDRESS = 2_000;
/** Whoever answers wrongly more often is no person. */
const MAX_TRIES = 10;

const CANCEL = { action: "cancel" } as const;
const DECLINE = { action: "decline" } as const;

/** Opens an address in a browser; whether that was tried. */
export type OpenAddress = (address: string) => boolean;

/**
 * Asks what a server wants to know of a person. Nothing is sent that they have not seen together and sent, and no
 * address is opened that they have not seen. A dialog that is dismissed cancels; to decline is an answer.
 */
export function askElicitation(
  asker: Asker,
  server: string,
  request: Elicitation,
  open: OpenAddress,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  return request.mode === "url"
    ? askToVisit(asker, server, request, open, signal)
    : askForm(asker, server, request, signal);
}

async function askForm(
  asker: Asker,
  server: string,
  { message, schema }: Elicitation & { mode: "form" },
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const fields = readForm(schema);
  const head = `MCP server \`${nameOf(server)}\` asks you:\n${words(message, MESSAGE_LINES, MESSAGE_CHARS)}`;
  if (typeof fields === "string") {
    const answer = await asker.select(
      `${head}\n\nIt wants ${fields}, so it cannot be answered here.`,
      [DECLINED],
      signal,
    );
    return answer === DECLINED ? DECLINE : CANCEL;
  }
  const start = fields.length === 0 ? ACCEPT : ANSWER;
  const wanted = fields.map(({ label, isRequired }) => (isRequired ? label : `${label} (optional)`));
  const about = wanted.length === 0 ? head : `${head}\n\nIt wants: ${wanted.join(", ")}`;
  const first = await asker.select(about, fields.length === 0 ? [DECLINED, ACCEPT] : [ANSWER, DECLINED], signal);
  if (first === DECLINED) return DECLINE;
  if (first !== start) return CANCEL;
  const values = new Map<Field, unknown>();
  for (const field of fields) if (!(await fill(asker, server, field, values, signal))) return CANCEL;
  return fields.length === 0 ? { action: "accept", content: {} } : review(asker, server, fields, values, signal);
}

const ANSWER = "Answer";
const ACCEPT = "Accept";
const DECLINED = "Decline";
const SEND = "Send";

/** All that would be sent, until it is sent, declined or dismissed. */
async function review(
  asker: Asker,
  server: string,
  fields: readonly Field[],
  values: Map<Field, unknown>,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const changes = new Map(fields.map((field, index) => [`Change ${index + 1}: ${field.label}`, field]));
  for (;;) {
    const lines = fields.map((field, index) => `  ${index + 1}. ${field.label}: ${shown(field, values)}`);
    const text = [`Send this to MCP server \`${nameOf(server)}\`?`, ...lines].join("\n");
    const answer = await selectPaged(asker, text, [SEND, DECLINED, ...changes.keys()], signal);
    if (answer === SEND) {
      const content = Object.fromEntries([...values].map(([{ name }, value]) => [name, value]));
      return { action: "accept", content };
    }
    if (answer === DECLINED) return DECLINE;
    const field = changes.get(answer ?? "");
    if (field === undefined || !(await fill(asker, server, field, values, signal))) return CANCEL;
  }
}

function shown(field: Field, values: ReadonlyMap<Field, unknown>): string {
  if (values.has(field)) return valueLine(values.get(field), VALUE_CHARS).text;
  if (field.fallback === undefined) return "(left empty)";
  return `${valueLine(field.fallback, VALUE_CHARS).text} (the server's default)`;
}

/** Asks for one field until it fits. False when the person wants no more. */
async function fill(
  asker: Asker,
  server: string,
  field: Field,
  values: Map<Field, unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  let problem: string | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = await askField(asker, fieldText(server, field, problem), field, values.get(field), signal);
    if (answer === undefined) return false;
    if ("problem" in answer) {
      problem = answer.problem;
      continue;
    }
    if ("value" in answer) values.set(field, answer.value);
    else values.delete(field);
    return true;
  }
  return false;
}

function fieldText(
  server: string,
  { label, description, kind, isRequired }: Field,
  problem: string | undefined,
): string {
  const what = describeKind(kind);
  return [
    ...(problem === undefined ? [] : [problem, ""]),
    `${label}${isRequired ? "" : " (optional)"}, for MCP server \`${nameOf(server)}\``,
    ...(description === "" ? [] : [description]),
    ...(what === "" ? [] : [`Expected: ${what}`]),
  ].join("\n");
}

/** `left`: it stays empty, or as the server has it. */
type FieldAnswer = { readonly value: unknown } | { readonly problem: string } | { readonly left: true };

async function askField(
  asker: Asker,
  text: string,
  { kind, isRequired, fallback }: Field,
  before: unknown,
  signal: AbortSignal,
): Promise<FieldAnswer | undefined> {
  const mayLeave = !isRequired || fallback !== undefined;
  const leave = fallback === undefined ? "(leave empty)" : `(as the server has it: ${valueLine(fallback, 40).text})`;
  if (kind.type === "text" || kind.type === "number") {
    // Not every host shows the hint where it is typed.
    const about = mayLeave ? `${text}\nEnter alone: ${leave}` : text;
    const typed = await asker.input(about, mayLeave ? leave : "", signal);
    if (typed === undefined) return undefined;
    if (typed !== "") return checkTyped(kind, typed);
    return mayLeave ? { left: true } : { problem: "It must not be empty." };
  }
  if (kind.type === "choices") return askChoices(asker, text, kind, before ?? fallback, mayLeave, signal);
  const options =
    kind.type === "yes-no"
      ? [
          { label: "Yes", value: true },
          { label: "No", value: false },
        ]
      : kind.options;
  const labels = options.map(({ label }) => label);
  const answer = await selectPaged(asker, text, mayLeave ? [leave, ...labels] : labels, signal);
  if (mayLeave && answer === leave) return { left: true };
  const chosen = options.find(({ label }) => label === answer);
  return chosen && { value: chosen.value };
}

const DONE = "Done";

/** Each one on and off, until it is done. */
async function askChoices(
  asker: Asker,
  text: string,
  kind: Field["kind"] & { type: "choices" },
  before: unknown,
  mayLeave: boolean,
  signal: AbortSignal,
): Promise<FieldAnswer | undefined> {
  const chosen = new Set(Array.isArray(before) ? before : []);
  for (;;) {
    const rows = new Map(kind.options.map((each) => [`${chosen.has(each.value) ? "[x]" : "[ ]"} ${each.label}`, each]));
    const answer = await selectPaged(asker, text, [DONE, ...rows.keys()], signal);
    if (answer === DONE) {
      const value = kind.options.flatMap((each) => (chosen.has(each.value) ? [each.value] : []));
      if (value.length === 0 && mayLeave && before === undefined) return { left: true };
      const problem = checkChosen(kind, value.length);
      return problem === undefined ? { value } : { problem };
    }
    const row = rows.get(answer ?? "");
    if (row === undefined) return undefined;
    if (!chosen.delete(row.value)) chosen.add(row.value);
  }
}

const OPEN = "Open it in the browser";
const BY_HAND = "I open it myself";
const SHOW = "Show the whole address";

async function askToVisit(
  asker: Asker,
  server: string,
  { message, url }: Elicitation & { mode: "url" },
  open: OpenAddress,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const head = `MCP server \`${nameOf(server)}\` wants you to open an address:\n${words(message, MESSAGE_LINES, MESSAGE_CHARS)}`;
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isUsable = address !== undefined && /^https?:$/.test(address.protocol) && address.href.length <= MAX_ADDRESS;
  if (!isUsable) {
    const what = `What it names is no address of the web, or an endless one: ${valueLine(url, VALUE_CHARS).text}`;
    await asker.select(`${head}\n\n${what}`, [DECLINED], signal);
    return DECLINE;
  }
  const lines = addressLines(address.href);
  const isLong = lines.length > ADDRESS_LINES;
  const shownLines = isLong ? [...lines.slice(0, ADDRESS_LINES), "…"] : lines;
  const text = [head, "", ...shownLines.map((line) => `  ${line}`), "", ...warnings(address)].join("\n");
  // A user name in it makes it look like another place: no browser is started on that.
  const mayOpen = address.username === "" && address.password === "";
  const options = [DECLINED, ...(mayOpen ? [OPEN] : []), BY_HAND, ...(isLong ? [SHOW] : [])];
  for (;;) {
    const answer = await asker.select(text, options, signal);
    if (answer === SHOW && isLong) await showPages(asker, pagesOf(address.href), signal);
    else if (answer === DECLINED) return DECLINE;
    else if (answer === BY_HAND) return { action: "accept" };
    else if (answer !== OPEN || !mayOpen || signal.aborted) return CANCEL;
    else return (await openIt(asker, address.href, open, signal)) ? { action: "accept" } : CANCEL;
  }
}

/** Where there is no browser the person has to do it. */
async function openIt(asker: Asker, address: string, open: OpenAddress, signal: AbortSignal): Promise<boolean> {
  if (open(address)) return true;
  const text = ["There is no browser here. Open this address on any computer:", "", ...addressLines(address)].join(
    "\n",
  );
  return (await asker.select(text, [BY_HAND], signal)) === BY_HAND;
}

/** Who is at the other end, and what may be wrong with that. */
function warnings({ hostname, protocol, username, password }: URL): string[] {
  const isLocal = hostname === "localhost" || /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === "[::1]";
  return [
    `It leads to: ${hostname}`,
    ...(/(?:^|\.)xn--/.test(hostname)
      ? ["Careful: written with letters of other scripts (xn--), it can look like another name."]
      : []),
    ...(username !== "" || password !== "" ? ["Careful: what stands before the @ is not where it leads."] : []),
    ...(protocol === "http:" && !isLocal ? ["Careful: the connection is not encrypted (http)."] : []),
  ];
}
