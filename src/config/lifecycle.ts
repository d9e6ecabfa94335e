import { fieldsOf } from "./entries.ts";
import type { EntryReader } from "./entry-reader.ts";
import { HEALTH_CHECK_MS } from "./origins.ts";
import type { Lifecycle, ServerPolicy } from "./record.ts";

const LIFECYCLES: readonly Lifecycle[] = ["lazy", "eager", "keep-alive", "lazy-keep-alive"];

const MINUTE_MS = 60_000;
/** Timers of Node count 31 bits of milliseconds; whoever writes more than these 24 days means "never". */
const LONGEST_TIMER_MS = 0x7fffffff;

type Life = Pick<ServerPolicy, "lifecycle" | "idleTimeoutMs" | "healthCheckMs">;

/**
 * How long a connection lives. A lifecycle that is not known is reported and means `lazy`, so that it starts nothing unasked.
 * The default for idle connections is for those that are lazy; one that is kept alive is never ended for being idle.
 */
export function readLife(reader: EntryReader, defaults: Life): Life {
  const lifecycle = readLifecycle(reader) ?? defaults.lifecycle;
  const written = idleTimeoutMs(reader);
  const isKept = lifecycle.endsWith("keep-alive");
  const usual = lifecycle === "lazy" ? defaults.idleTimeoutMs : 0;
  return { lifecycle, idleTimeoutMs: isKept ? 0 : (written ?? usual), healthCheckMs: isKept ? HEALTH_CHECK_MS : 0 };
}

/** Whether a server is connected with the session, before anybody uses it. */
export function startsWithSession({ lifecycle }: Pick<ServerPolicy, "lifecycle">): boolean {
  return lifecycle === "eager" || lifecycle === "keep-alive";
}

/** The word itself, or the older `{"mode": word}`. */
function readLifecycle(reader: EntryReader): Lifecycle | undefined {
  const field = reader.field("lifecycle");
  if (field === undefined) return undefined;
  const mode = field.value.type === "object" ? fieldsOf(field.document, field.value).get("mode") : undefined;
  const { value } = (mode ?? field).value;
  const word = LIFECYCLES.find((each) => each === value);
  if (word === undefined) {
    const words = LIFECYCLES.map((each) => `"${each}"`).join(", ");
    reader.warningAt(mode ?? field, `"lifecycle" should be one of ${words}; "lazy" is used.`);
  }
  return word ?? "lazy";
}

/** `idleTimeoutMs`, or `idleTimeout` in minutes as pi's adapter has it; 0 is never. */
function idleTimeoutMs(reader: EntryReader): number | undefined {
  const minutes = amount(reader, "idleTimeout");
  const ms = amount(reader, "idleTimeoutMs") ?? (minutes === undefined ? undefined : minutes * MINUTE_MS);
  if (ms === undefined) return undefined;
  return ms > LONGEST_TIMER_MS ? 0 : Math.ceil(ms);
}

/** Zero or more. What is no such number costs nothing but a warning: the server can be used all the same. */
function amount(reader: EntryReader, name: string): number | undefined {
  const field = reader.field(name);
  if (field === undefined) return undefined;
  const { value } = field.value;
  if (typeof value === "number" && value >= 0) return value;
  reader.warningAt(field, `"${name}" should be a number, 0 for never; it is not used.`);
  return undefined;
}
