import { expect, it } from "vitest";
import { ORIGINS } from "./origins.ts";

it("each origin has the defaults of its dialect", () => {
  expect(ORIGINS).toEqual({
    settings: {
      protocolVersion: "2024-11-05",
      startTimeoutMs: 30_000,
      callTimeoutMs: 30_000,
      framing: "auto",
      shutdown: "polite",
      unsetVariable: "verbatim",
      variableForms: "plain",
      inheritEnv: "all",
      stopContainer: true,
      offersRoots: false,
      resultLimit: { maxBytes: 32_768, maxLines: 2000 },
      redactResults: "patterns",
      showTarget: true,
    },
    mcpjson: {
      protocolVersion: "auto",
      startTimeoutMs: 30_000,
      callTimeoutMs: 30_000,
      framing: "newline",
      shutdown: "close",
      unsetVariable: "empty",
      variableForms: "all",
      inheritEnv: "all",
      stopContainer: true,
      offersRoots: true,
      resultLimit: { maxBytes: 51_200, maxLines: 2000 },
      redactResults: "values",
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
      offersRoots: false,
      resultLimit: { maxBytes: 51_200, maxLines: 2000 },
      redactResults: "values",
      showTarget: false,
    },
  });
});
