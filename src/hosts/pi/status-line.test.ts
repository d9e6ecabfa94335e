import { expect, test } from "vitest";
import type { ServerConfig, UntrustedFile } from "../../config/record.ts";
import type { ServerState } from "../../session/session.ts";
import { attention } from "./status-line.ts";

const server = (name: string, lifecycle = "lazy", exposure = "gateway") =>
  ({ name, policy: { lifecycle }, exposure }) as unknown as ServerConfig;

function line(
  states: Record<string, ServerState>,
  servers: ServerConfig[],
  untrusted: object[] = [],
): string | undefined {
  return attention({ servers, untrusted: untrusted as UntrustedFile[] }, (name) => states[name]);
}

test("[S2-22] nothing is said while all is well, nor of what nobody has used", () => {
  expect(line({}, [])).toBeUndefined();
  expect(
    line(
      { a: "idle", b: "ready", c: "starting", d: "stopped" },
      ["a", "b", "c", "d"].map((name) => server(name)),
    ),
  ).toBeUndefined();
});

test("one line says who needs a person", () => {
  expect(line({ a: "needs-auth" }, [server("a")])).toBe("MCP: a needs sign-in (/mcp)");
  expect(
    line({ a: "failed", b: "failed", c: "failed" }, [server("a"), server("b", "eager"), server("c", "lazy", "direct")]),
  ).toBe("MCP: b, c failed (/mcp)");
  expect(
    line(
      {},
      [],
      [
        { state: "waiting", servers: [{}, {}] },
        { state: "denied", servers: [{}] },
      ],
    ),
  ).toBe("MCP: 2 of this project not allowed yet (/mcp)");
  expect(
    attention(
      { servers: [server("a")] },
      () => "ready",
      (name) => name === "a",
    ),
  ).toBe("MCP: a has other tools than you accepted (/mcp)");
  expect(line({ "a\u001b[2J": "needs-auth" }, [server("a\u001b[2J")])).not.toContain("\u001b");
});
