import type { ListLimit, Origin, ResultLimit, RetryPolicy, ServerPolicy } from "./record.ts";

/** Limit of one request: S1-54 and S3-51 both say 30 seconds. */
const REQUEST_TIMEOUT_MS = 30_000;

/** S1-33: 32 KiB; the line limit inside it is the one agents use for their own tools. */
const SETTINGS_RESULT: ResultLimit = { maxBytes: 32 * 1024, maxLines: 2000 };

/** S1-28, S1-29. */
const SETTINGS_LIST: ListLimit = { maxItems: 512, maxPages: 32 };

/** More than any server met so far has, and an end for a list that has none. */
const LIST: ListLimit = { maxItems: 10_000, maxPages: 1_000 };

/** S3-59, S3-60: 2000 lines or 50 KB, read as 1024-byte kilobytes. */
const MCPJSON_RESULT: ResultLimit = { maxBytes: 50 * 1024, maxLines: 2000 };

/** How often a connection that is kept alive is checked [S3-08]; one of another lifecycle is not. */
export const HEALTH_CHECK_MS = 30_000;

/** Servers of an mcp.json are often many: one that is lazy is not held for the rest of the day. */
const MCPJSON_IDLE_MS = 10 * 60_000;

/** S1-42…44: three tries, each on a new connection where the last one was lost, also of a start. */
const SETTINGS_RETRY: RetryPolicy = {
  attempts: 3,
  inPlace: 2,
  reconnects: 2,
  repeatsStart: true,
  pause: { firstMs: 100, growth: "doubled", maxMs: 1_000 },
  reconnectsInARow: Number.POSITIVE_INFINITY,
};

/** S3-16…19: two more tries while the session lives, one more when it is gone. */
const MCPJSON_RETRY: RetryPolicy = {
  attempts: 4,
  inPlace: 2,
  reconnects: 1,
  repeatsStart: false,
  pause: { firstMs: 200, growth: "added", maxMs: 400 },
  reconnectsInARow: Number.POSITIVE_INFINITY,
};

/** S2-23…25: what is known not to have run is sent once more; a server that does nothing but stop is left alone. */
const ACP_RETRY: RetryPolicy = {
  attempts: 2,
  inPlace: 1,
  reconnects: 1,
  repeatsStart: false,
  pause: { firstMs: 200, growth: "added", maxMs: 200 },
  reconnectsInARow: 3,
};

/** For programs that may have to fetch a server before they can run it. */
export const PACKAGE_RUNNER_START_MS = 60_000;

/**
 * What a server gets when its entry does not say otherwise, by where it is configured. This is the only place where
 * the origin matters; everything else reads the resolved policy.
 */
export const ORIGINS: Readonly<Record<Origin, ServerPolicy>> = {
  settings: {
    protocolVersion: "2024-11-05",
    startTimeoutMs: REQUEST_TIMEOUT_MS,
    callTimeoutMs: REQUEST_TIMEOUT_MS,
    framing: "auto",
    shutdown: "polite",
    unsetVariable: "verbatim",
    variableForms: "plain",
    inheritEnv: "all",
    stopContainer: true,
    lifecycle: "lazy",
    idleTimeoutMs: 0,
    healthCheckMs: 0,
    replay: "transport",
    retry: SETTINGS_RETRY,
    freshAfterFailure: true,
    resolveNpx: false,
    stderr: "ring",
    resultLimit: SETTINGS_RESULT,
    listLimit: SETTINGS_LIST,
    redactResults: "patterns",
    offersRoots: false,
    offersSampling: false,
    directFrom: "known",
    surface: "gateway",
    pin: "notice",
    showTarget: true,
    trustsHints: false,
  },
  mcpjson: {
    protocolVersion: "auto",
    startTimeoutMs: REQUEST_TIMEOUT_MS,
    callTimeoutMs: REQUEST_TIMEOUT_MS,
    framing: "newline",
    shutdown: "close",
    unsetVariable: "empty",
    variableForms: "all",
    inheritEnv: "all",
    stopContainer: true,
    lifecycle: "lazy",
    idleTimeoutMs: MCPJSON_IDLE_MS,
    healthCheckMs: 0,
    replay: "transient",
    retry: MCPJSON_RETRY,
    freshAfterFailure: false,
    resolveNpx: true,
    stderr: "ring",
    resultLimit: MCPJSON_RESULT,
    listLimit: LIST,
    redactResults: "values",
    offersRoots: true,
    offersSampling: false,
    directFrom: "known",
    surface: "split",
    pin: "notice",
    showTarget: true,
    trustsHints: true,
  },
  acp: {
    protocolVersion: "auto",
    startTimeoutMs: 60_000,
    callTimeoutMs: 120_000,
    framing: "newline",
    shutdown: "close",
    unsetVariable: "literal",
    variableForms: "plain",
    inheritEnv: "safe",
    stopContainer: true,
    lifecycle: "lazy",
    idleTimeoutMs: 0,
    healthCheckMs: 0,
    replay: "declared",
    retry: ACP_RETRY,
    freshAfterFailure: false,
    resolveNpx: false,
    stderr: "file",
    resultLimit: MCPJSON_RESULT,
    listLimit: LIST,
    redactResults: "values",
    offersRoots: false,
    offersSampling: false,
    directFrom: "connection",
    surface: "direct",
    pin: "notice",
    showTarget: false,
    trustsHints: true,
  },
};
