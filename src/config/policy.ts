import { LEGACY_VERSIONS, MODERN_VERSIONS } from "../version.ts";
import type { EntryReader } from "./entry-reader.ts";
import { readLife } from "./lifecycle.ts";
import { PACKAGE_RUNNER_START_MS } from "./origins.ts";
import { isPackageRunner } from "./package-runner.ts";
import { quote } from "./problems.ts";
import type { ConfigLayer, ServerPolicy, ServerTarget, Surface } from "./record.ts";
import { SURFACES } from "./surface.ts";

const KNOWN_VERSIONS = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** No server answers reliably within this: a smaller limit was meant in seconds. */
const MIN_PLAUSIBLE_MS = 100;

/** More tries of one request are a loop. */
const MOST_ATTEMPTS = 10;

/** `timeout` is in seconds here and in milliseconds in other programs: above an hour it was most likely meant for those. */
const MAX_PLAUSIBLE_TIMEOUT_S = 3600;

/** A limit an entry sets, and the field that does. */
interface Limit {
  readonly ms: number;
  readonly field: string;
}

export interface Limits {
  readonly start: Limit | undefined;
  readonly call: Limit | undefined;
}

/**
 * `requestTimeoutMs` (S3-51) sets both limits; `timeout` and `tool_timeout_sec` (seconds) set the limit of a call,
 * `startup_timeout_sec` (seconds) that of the start. The more special field wins.
 */
export function readLimits(reader: EntryReader): Limits {
  const both = limit("requestTimeoutMs", requestTimeoutMs(reader));
  const start = limit("startup_timeout_sec", secondsMs(reader, "startup_timeout_sec"));
  const timeout = limit("timeout", timeoutMs(reader));
  const call = limit("tool_timeout_sec", secondsMs(reader, "tool_timeout_sec"));
  return { start: start ?? both, call: call ?? timeout ?? both };
}

function limit(field: string, ms: number | undefined): Limit | undefined {
  return ms === undefined ? undefined : { field, ms };
}

/**
 * The origin's defaults with what the entry says instead. Without a limit of its own, a server that may have to be fetched
 * first gets more time to start.
 */
export function readPolicy(
  reader: EntryReader,
  defaults: ServerPolicy,
  target: ServerTarget | undefined,
  { start, call }: Limits,
  usualSurface?: Surface,
): ServerPolicy {
  return {
    ...defaults,
    protocolVersion: protocolVersion(reader) ?? defaults.protocolVersion,
    resultLimit: {
      maxBytes: reader.positive("maxResultBytes") ?? defaults.resultLimit.maxBytes,
      maxLines: reader.positive("maxResultLines") ?? defaults.resultLimit.maxLines,
    },
    listLimit: {
      maxItems: reader.positive("maxListItems") ?? defaults.listLimit.maxItems,
      maxPages: reader.positive("maxListPages") ?? defaults.listLimit.maxPages,
    },
    inheritEnv: inheritEnv(reader) ?? defaults.inheritEnv,
    stopContainer: reader.boolean("stopContainer") ?? defaults.stopContainer,
    ...readLife(reader, defaults),
    replay: oneOf(reader, "replay", ["transport", "transient", "declared", "never"]) ?? defaults.replay,
    retry: { ...defaults.retry, attempts: maxAttempts(reader) ?? defaults.retry.attempts },
    pin: oneOf(reader, "pin", ["off", "notice", "strict"]) ?? defaults.pin,
    freshAfterFailure: reader.boolean("freshAfterFailure") ?? defaults.freshAfterFailure,
    surface: readSurface(reader, defaults.surface, usualSurface),
    offersRoots: reader.boolean("offersRoots") ?? defaults.offersRoots,
    offersSampling: offersSampling(reader) ?? defaults.offersSampling,
    resolveNpx: reader.boolean("resolveNpx") ?? defaults.resolveNpx,
    stderr: stderr(reader) ?? defaults.stderr,
    startTimeoutMs: start?.ms ?? usualStartMs(defaults, target),
    callTimeoutMs: call?.ms ?? defaults.callTimeoutMs,
    framing: oneOf(reader, "framing", ["auto", "newline", "content-length"]) ?? defaults.framing,
    shutdown: oneOf(reader, "shutdown", ["polite", "close"]) ?? defaults.shutdown,
    trustsHints: trustsHints(reader, defaults),
  };
}

/** Other programs may write something else there, which is no reason to lose the server. */
function offersSampling(reader: EntryReader): boolean | undefined {
  if (!reader.has("sampling") || reader.isBoolean("sampling")) return reader.boolean("sampling");
  reader.warning("sampling", '"sampling" should be true or false; it is not used.');
  return undefined;
}

/** What makes a server the one that it is. */
const DEFINING = ["command", "url", "type", "transport", "args", "env", "headers"];

/**
 * `trustHints`, by default as it is for the origin, but only of a server that the person has written down themselves: a
 * stranger's server is not taken at its word because a stranger's file says so.
 */
function trustsHints(reader: EntryReader, defaults: ServerPolicy): boolean {
  const isStrangers = (field: string) => STRANGERS.has(reader.field(field)?.document.layer ?? "own");
  const written = reader.boolean("trustHints");
  if (written === true && isStrangers("trustHints")) {
    reader.warning("trustHints", '"trustHints": true counts in your own files alone; it is not used here.');
  } else if (written !== undefined) return written;
  return defaults.trustsHints && !DEFINING.some(isStrangers);
}

const STRANGERS: ReadonlySet<ConfigLayer> = new Set<ConfigLayer>(["project", "extension"]);

function usualStartMs({ startTimeoutMs }: ServerPolicy, target: ServerTarget | undefined): number {
  return target && isPackageRunner(target) ? Math.max(startTimeoutMs, PACKAGE_RUNNER_START_MS) : startTimeoutMs;
}

/** `auto` is the default of where the entry stands, also where the person has another one for all servers. */
function readSurface(reader: EntryReader, byOrigin: Surface, usual: Surface | undefined): Surface {
  const written = oneOf(reader, "surface", SURFACES);
  return written === "auto" ? byOrigin : (written ?? usual ?? byOrigin);
}

/** `debug: true` is the adapter's word for `stderr: "show"`. */
function stderr(reader: EntryReader): ServerPolicy["stderr"] | undefined {
  if (reader.has("debug") && !reader.isBoolean("debug")) {
    reader.warning("debug", '"debug" should be true or false; it is not used.');
  }
  return oneOf(reader, "stderr", ["ring", "file", "show"]) ?? (reader.is("debug", true) ? "show" : undefined);
}

/** Other programs write true for "all" and false for "safe". */
function inheritEnv(reader: EntryReader): ServerPolicy["inheritEnv"] | undefined {
  if (reader.isBoolean("inheritEnv")) return reader.is("inheritEnv", true) ? "all" : "safe";
  return oneOf(reader, "inheritEnv", ["all", "safe"]);
}

/** One of a few words; another one is reported and read as absent. */
function oneOf<Word extends string>(reader: EntryReader, field: string, words: readonly Word[]): Word | undefined {
  const written = reader.text(field)?.toLowerCase();
  const word = words.find((each) => each === written);
  if (written !== undefined && word === undefined) {
    reader.error(field, `"${field}" must be one of ${words.map((each) => `"${each}"`).join(", ")}.`);
  }
  return word;
}

function maxAttempts(reader: EntryReader): number | undefined {
  const value = reader.positive("maxAttempts");
  return value === undefined ? undefined : Math.min(MOST_ATTEMPTS, Math.max(1, Math.round(value)));
}

function requestTimeoutMs(reader: EntryReader): number | undefined {
  const value = reader.positive("requestTimeoutMs");
  if (value === undefined) return undefined;
  if (value >= MIN_PLAUSIBLE_MS) return Math.round(value);
  reader.warning(
    "requestTimeoutMs",
    '"requestTimeoutMs" is in milliseconds, and no server answers that fast; it is not used.',
  );
  return undefined;
}

function timeoutMs(reader: EntryReader): number | undefined {
  const value = secondsMs(reader, "timeout");
  if (value === undefined || value <= MAX_PLAUSIBLE_TIMEOUT_S * 1000) return value;
  reader.warning(
    "timeout",
    '"timeout" is in seconds, and more than an hour is not used; write "tool_timeout_sec" for that, or "requestTimeoutMs" for milliseconds.',
  );
  return undefined;
}

function secondsMs(reader: EntryReader, field: string): number | undefined {
  const value = reader.positive(field);
  return value === undefined ? undefined : Math.max(1, Math.round(value * 1000));
}

function protocolVersion(reader: EntryReader): string | undefined {
  const value = reader.text("protocolVersion");
  if (value !== undefined && !/^(auto|\d{4}-\d{2}-\d{2})$/.test(value)) {
    reader.error(
      "protocolVersion",
      '"protocolVersion" must be "auto" or the date of a revision, such as "2025-11-25".',
    );
  } else if (value !== undefined && value !== "auto" && !KNOWN_VERSIONS.includes(value)) {
    reader.warning(
      "protocolVersion",
      `"protocolVersion" is ${quote(value)}, which is no revision this client knows; it is asked for all the same. Known are "auto", ${KNOWN_VERSIONS.join(", ")}.`,
    );
  }
  return value;
}
