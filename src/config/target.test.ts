// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { describe, expect, it } from "vitest";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { createEntryReader } from "./entry-reader.ts";
import { expandTarget } from "./expand.ts";
import type { ConfigProblem, ServerTarget } from "./record.ts";
import { readTarget } from "./target.ts";

function read(entry: object): { target: ServerTarget | undefined; problems: string[] } {
  const problems: ConfigProblem[] = [];
  const entries = readEntries(documentOf(JSON.stringify({ mcpServers: { s: entry } })), problems);
  const [target] = [...entries.values()].map((each) => {
    const reader = createEntryReader(each, problems);
    const found = readTarget(reader, "plain");
    return reader.failed ? undefined : found;
  });
  return { target, problems: brief(problems) };
}

describe("the older HTTP transport", () => {
  it("[S1-10] [S2-13] is that of a server declared as sse, in any of the fields and spellings for it", () => {
    for (const field of ["type", "transport", "transportType"]) {
      for (const name of ["sse", "SSE"]) {
        const { target, problems } = read({ [field]: name, url: "https://h/sse", headers: { A: "b" } });
        expect(target).toEqual({ kind: "sse", url: "https://h/sse", headers: { A: "b" } });
        expect(problems).toEqual([]);
      }
    }
    expect(read({ type: "sse", command: "x" }).problems).toEqual([expect.stringContaining('has no "url"')]);
  });
});

describe("the files of TLS", () => {
  it("are an authority, a certificate and its key, as written", () => {
    const files = { ca: "~/ca.pem", cert: "/etc/me.pem", key: "${KEYS}/me.key" };
    for (const kind of ["http", "sse"] as const) {
      const { target, problems } = read({ type: kind, url: "https://h/", ...files });
      expect(target).toEqual({ kind, url: "https://h/", headers: {}, ...files });
      expect(problems).toEqual([]);
    }
    expect(read({ url: "https://h/", ca: "" }).target).toEqual({ kind: "http", url: "https://h/", headers: {} });
  });

  it("are expanded as other paths are, when the server is started", () => {
    const { target } = read({ url: "https://h/", ca: "~/ca.pem", cert: "$DIR/me.pem", key: "${DIR}/me.key" });
    if (target === undefined) throw new Error("no target");
    const env = { HOME: "/home/me", DIR: "/keys" };
    expect(expandTarget(target, { unsetVariable: "empty", variableForms: "plain" }, env).target).toEqual({
      kind: "http",
      url: "https://h/",
      headers: {},
      ca: "/home/me/ca.pem",
      cert: "/keys/me.pem",
      key: "/keys/me.key",
    });
  });

  it("are refused when they are relative, half of a pair, or no text", () => {
    const problem = (entry: object): string[] => read({ url: "https://h/", ...entry }).problems;
    for (const file of ["ca.pem", "./ca.pem", "certs/ca.pem"]) {
      expect(problem({ ca: file })).toEqual([
        expect.stringMatching(/ error .*"ca" must be the complete path of a file/),
      ]);
    }
    expect(problem({ cert: "/a" })).toEqual([expect.stringMatching(/^1:\d+ error .*are of use only together/)]);
    expect(problem({ key: "/a" })).toEqual([expect.stringMatching(/^1:\d+ error .*are of use only together/)]);
    expect(problem({ ca: true })).toEqual([expect.stringMatching(/"ca" must be a string/)]);
  });
});
