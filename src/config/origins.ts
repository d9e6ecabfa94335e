import type { Origin, ResultLimit, ServerPolicy } from "./record.ts";

/** The newest revision of the protocol this product speaks. */
const NEWEST_PROTOCOL_VERSION = "2025-11-25";

/** Limit of one request: S1-54 and S3-51 both say 30 seconds. */
const REQUEST_TIMEOUT_MS = 30_000;

/** S1-33: 32 KiB; the line limit inside it is the one agents use for their own tools. */
const SETTINGS_RESULT: ResultLimit = { maxBytes: 32 * 1024, maxLines: 2000 };

/** S3-59, S3-60: 2000 lines or 50 KB, read as 1024-byte kilobytes. */
const MCPJSON_RESULT: ResultLimit = { maxBytes: 50 * 1024, maxLines: 2000 };

/**
 * What a server gets when its entry does not say otherwise, by where it is configured. This is the only place where
 * the origin matters; everything else reads the resolved policy.
 */
export const ORIGINS: Readonly<Record<Origin, ServerPolicy>> = {
  settings: {
    protocolVersion: "2024-11-05",
    startTimeoutMs: REQUEST_TIMEOUT_MS,
    callTimeoutMs: REQUEST_TIMEOUT_MS,
    unsetVariable: "verbatim",
    resultLimit: SETTINGS_RESULT,
    redactResults: "patterns",
    showTarget: true,
  },
  mcpjson: {
    protocolVersion: NEWEST_PROTOCOL_VERSION,
    startTimeoutMs: REQUEST_TIMEOUT_MS,
    callTimeoutMs: REQUEST_TIMEOUT_MS,
    unsetVariable: "empty",
    resultLimit: MCPJSON_RESULT,
    redactResults: "values",
    showTarget: true,
  },
};
