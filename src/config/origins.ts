import type { ListLimit, Origin, ResultLimit, ServerPolicy } from "./record.ts";

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
    resolveNpx: false,
    stderr: "ring",
    resultLimit: SETTINGS_RESULT,
    listLimit: SETTINGS_LIST,
    redactResults: "patterns",
    offersRoots: false,
    showTarget: true,
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
    resolveNpx: true,
    stderr: "ring",
    resultLimit: MCPJSON_RESULT,
    listLimit: LIST,
    redactResults: "values",
    offersRoots: true,
    showTarget: true,
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
    resolveNpx: false,
    stderr: "file",
    resultLimit: MCPJSON_RESULT,
    listLimit: LIST,
    redactResults: "values",
    offersRoots: false,
    showTarget: false,
  },
};
