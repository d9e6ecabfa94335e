import { expect, it } from "vitest";
import { ORIGINS } from "./origins.ts";

it("each origin has the defaults of its dialect", () => {
  expect(ORIGINS).toEqual({
    settings: {
      protocolVersion: "2024-11-05",
      startTimeoutMs: 30_000,
      callTimeoutMs: 30_000,
      unsetVariable: "verbatim",
      resultLimit: { maxBytes: 32_768, maxLines: 2000 },
      redactResults: "patterns",
      showTarget: true,
    },
    mcpjson: {
      protocolVersion: "2025-11-25",
      startTimeoutMs: 30_000,
      callTimeoutMs: 30_000,
      unsetVariable: "empty",
      resultLimit: { maxBytes: 51_200, maxLines: 2000 },
      redactResults: "values",
      showTarget: true,
    },
  });
});
