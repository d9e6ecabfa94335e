// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { describe, expect, it } from "vitest";
import { LEGACY_VERSIONS, MODERN_VERSIONS } from "../version.ts";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { ORIGINS } from "./origins.ts";
import type { ConfigProblem, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";

/** Reads one entry, given as JSON text or as a value; its text begins at line 1, column 22. */
function read(entry: unknown, origin: Origin = "mcpjson"): { server: ServerConfig | undefined; problems: string[] } {
  const text = typeof entry === "string" ? entry : JSON.stringify(entry);
  const problems: ConfigProblem[] = [];
  const entries = readEntries(documentOf(`{"mcpServers": {"s": ${text}}}`), problems);
  const [server] = [...entries.values()].map((each) => readServer(each, origin, problems));
  expect(problems.every((problem) => problem.server === "s")).toBe(true);
  return { server, problems: brief(problems) };
}

/** The target of an entry without problems. */
function target(entry: unknown) {
  const { server, problems } = read(entry);
  expect(problems).toEqual([]);
  return server?.target;
}

/** The one problem of an entry that is not used. */
function refusal(entry: unknown): string {
  const { server, problems } = read(entry);
  expect(server).toBeUndefined();
  expect(problems).toHaveLength(1);
  return problems[0] ?? "";
}

describe("a stdio server", () => {
  it("has a command, arguments, environment and directory, all as written", () => {
    expect(
      target({
        command: "npx",
        args: ["-y", " a b ", "$(x)", ""],
        env: { TOKEN: "$T", EMPTY: "", SPACE: " x " },
        cwd: "~/x",
      }),
    ).toEqual({
      kind: "stdio",
      command: "npx",
      args: ["-y", " a b ", "$(x)", ""],
      env: { TOKEN: "$T", EMPTY: "", SPACE: " x " },
      cwd: "~/x",
    });
    expect(target({ command: "x" })).toEqual({ kind: "stdio", command: "x", args: [], env: {} });
  });

  it("takes numbers and booleans in its environment as they are written", () => {
    expect(target('{"command": "x", "env": {"A": 1.10, "B": true, "C": 1e3}}')).toMatchObject({
      env: { A: "1.10", B: "true", C: "1e3" },
    });
  });

  it("keeps an environment variable called __proto__", () => {
    const read = target('{"command": "x", "env": {"__proto__": "y"}}');
    expect(read?.kind === "stdio" && Object.entries(read.env)).toEqual([["__proto__", "y"]]);
  });

  it("[E032] may be npx alone: no word of a shell around it, on any system", () => {
    const platform = Object.getOwnPropertyDescriptor(process, "platform");
    try {
      Object.defineProperty(process, "platform", { ...platform, value: "win32" });
      expect(target({ command: "npx", args: ["-y", "x"] })).toMatchObject({ command: "npx", args: ["-y", "x"] });
    } finally {
      Object.defineProperty(process, "platform", platform ?? {});
    }
  });

  it("is refused with the place and the kind that is expected", () => {
    expect(refusal('{"command": 5}')).toBe('1:34 error Server "s": "command" must be a string, not a number.');
    expect(refusal('{"command": ["npx", 5]}')).toMatch(
      /^1:42 error .*"command\[1\]" must be a string, not a number\.$/,
    );
    for (const command of ["[]", '["", "x"]', '[" "]']) {
      expect(refusal(`{"command": ${command}}`)).toMatch(/^1:34 error .*"command" names no program\.$/);
    }
    expect(refusal('{"command": "x", "args": "-y"}')).toMatch(
      /^1:47 error .*"args" must be an array of strings, not a string\.$/,
    );
    expect(refusal('{"command": "x", "args": ["a", 5]}')).toMatch(
      /^1:53 error .*"args\[1\]" must be a string, not a number\.$/,
    );
    expect(refusal('{"command": "x", "env": []}')).toMatch(/"env" must be an object of strings, not an array\.$/);
    expect(refusal('{"command": "x", "env": {"A": null}}')).toMatch(
      /^1:52 error .*the value of "A" in "env" must be a string, not null\.$/,
    );
    expect(refusal('{"command": "x", "cwd": true}')).toMatch(/"cwd" must be a string, not true or false\.$/);
    expect(refusal('{"command": "x", "env": {"A=B": "c"}}')).toMatch(/"A=" in "env" cannot be the name of a variable/);
    expect(refusal('{"command": "x", "env": {"A": "b\\u0000"}}')).toMatch(/NUL/);
    expect(refusal('{"command": "x", "args": ["b\\u0000"]}')).toMatch(/NUL/);
    expect(refusal('{"command": "C:\\new"}')).toMatch(/"command" holds a control character; write a backslash twice/);
  });

  it("reports all that is wrong with it", () => {
    expect(read({ command: "x", args: 1, env: 2, cwd: 3, timeout: "4", exposure: 5 }).problems).toHaveLength(5);
  });
});

describe("an HTTP server", () => {
  it("[S3-43] is any server with a url", () => {
    const http = { kind: "http", url: "https://h/mcp", headers: {} };
    expect(target({ url: "https://h/mcp" })).toEqual(http);
    for (const type of ["http", "HTTP", "streamable-http", "streamableHttp", "streamable_http", "remote"]) {
      expect(target({ type, url: "https://h/mcp" })).toEqual(http);
      expect(target({ transport: type, url: "https://h/mcp" })).toEqual(http);
    }
    expect(target({ type: "http", transport: "sse", url: "https://h/mcp" })).toEqual(http);
    expect(target({ url: "https://h/mcp", command: "" })).toEqual(http);
  });

  it("[S3-44] is any server of type http, so it is not one of a command", () => {
    expect(target({ type: "http", url: "https://h/mcp" })?.kind).toBe("http");
    for (const entry of [
      { type: "http" },
      { type: "http", command: "x" },
      { type: "http", command: "x", args: ["y"] },
    ]) {
      expect(refusal(entry)).toMatch(/is declared as an HTTP server, but has no "url"; add its address\.$/);
    }
  });

  it("has headers", () => {
    expect(target({ url: "https://h/", headers: { Authorization: "Bearer $T", "X-N": 5 } })).toMatchObject({
      headers: { Authorization: "Bearer $T", "X-N": "5" },
    });
  });

  it("may have an address that is known only when it is started", () => {
    for (const url of ["${BASE}/mcp", "https://$HOST:8080/mcp", "$URL"]) expect(target({ url })).toMatchObject({ url });
  });

  it("is refused with the place and the reason", () => {
    expect(refusal('{"type": "http"}')).toMatch(/^1:31 error .*has no "url"; add its address\.$/);
    expect(refusal('{"type": "http", "command": "x"}')).toMatch(/has no "url"/);
    expect(refusal({ url: "" })).toMatch(/neither a "command" to run nor a "url"/);
    for (const url of ["h/mcp", "ftp://h/", "file:///x", "https://", "$5"])
      expect(refusal({ url })).toMatch(/http or https address/);
    expect(refusal({ url: "https://h/", headers: { "a b": "c" } })).toMatch(
      /"a b" in "headers" cannot be the name of a header/,
    );
    expect(refusal({ url: "https://h/", headers: { a: "b\nc" } })).toMatch(/line break/);
    expect(refusal({ url: "https://h/", headers: "a: b" })).toMatch(
      /"headers" must be an object of strings, not a string/,
    );
    expect(refusal({ url: 5 })).toMatch(/"url" must be a string, not a number/);
  });

  it("gives none of its values away in a message", () => {
    const secret = "hunter2";
    for (const entry of [
      { url: `ftp://u:${secret}@h/` },
      { url: "https://h/", headers: { A: `${secret}\n${secret}` } },
      { command: `a\n${secret}` },
      { command: "x", env: { A: [secret] } },
      { command: "x", args: [{ a: secret }] },
      { command: secret, url: secret },
    ]) {
      expect(read(entry).problems.join("\n")).not.toContain(secret);
    }
  });
});

describe("the transport", () => {
  it("[S1-10] is stdio when none is named, and may be named", () => {
    expect(target({ command: "x" })?.kind).toBe("stdio");
    expect(target({ transport: "stdio", command: "x" })?.kind).toBe("stdio");
    expect(target({ type: "STDIO", command: "x" })?.kind).toBe("stdio");
    expect(target({ transport: "sse", url: "https://h/sse" })?.kind).toBe("sse");
  });

  it("must be a known one and fit the rest", () => {
    expect(refusal({ type: "websocket", url: "wss://h/" })).toMatch(
      /^1:30 error .*"websocket" is not known; use "stdio", "http" or "sse"/,
    );
    expect(refusal({ type: "constructor", command: "x" })).toMatch(/not known/);
    expect(refusal({ command: "x", url: "https://h/" })).toMatch(/both a "command" and a "url"/);
    expect(refusal({ type: "stdio", url: "https://h/" })).toMatch(/has no "command"/);
    expect(refusal({ env: {} })).toMatch(/^1:17 error .*neither a "command"/);
    expect(refusal({ command: " " })).toMatch(/^1:33 error .*neither a "command"/);
  });
});

describe("white space", () => {
  it("around a value is ignored with a warning", () => {
    const { server, problems } = read({
      url: " https://h/mcp\u00a0",
      headers: { "A\n": "Bearer x\n" },
      type: "http\u200b",
    });
    expect(server?.target).toEqual({ kind: "http", url: "https://h/mcp", headers: { A: "Bearer x" } });
    expect(problems).toHaveLength(4);
    expect(problems.every((problem) => / warning .*white space around/.test(problem))).toBe(true);
  });
});

describe("disabled", () => {
  it("[S1-14] switches a server off; false and absent leave it on", () => {
    expect(read({ command: "x", disabled: true }, "settings").server).toBeUndefined();
    expect(read({ command: "x", disabled: false }, "settings").server?.name).toBe("s");
    expect(read({ command: "x" }, "settings").server?.name).toBe("s");
  });

  it("is also written as enabled: false", () => {
    expect(read({ command: "x", enabled: false }).server).toBeUndefined();
    expect(read({ command: "x", enabled: true }).server?.name).toBe("s");
  });

  it("ends all further checks", () => {
    expect(read({ disabled: true, enabled: "?", command: 5, url: 6, args: 7, timeout: -1 })).toEqual({
      server: undefined,
      problems: [],
    });
  });

  it("must be true or false", () => {
    expect(refusal({ command: "x", disabled: "true" })).toMatch(/"disabled" must be true or false, not a string/);
    expect(refusal({ command: "x", enabled: 0 })).toMatch(/"enabled" must be true or false, not a number/);
  });
});

describe("the policy", () => {
  const policyOf = (entry: object, origin: Origin = "mcpjson") => {
    const { server, problems } = read({ command: "x", ...entry }, origin);
    return { policy: server?.policy, problems };
  };

  it("is the origin's unless the entry says otherwise", () => {
    for (const origin of ["settings", "mcpjson"] as const) {
      expect(policyOf({}, origin)).toEqual({ policy: ORIGINS[origin], problems: [] });
    }
  });

  it("takes limits in the unit of their name, the more special one first", () => {
    const limits = (entry: object) => {
      const { policy, problems } = policyOf(entry);
      expect(problems).toEqual([]);
      return [policy?.startTimeoutMs, policy?.callTimeoutMs];
    };
    expect(limits({ requestTimeoutMs: 500 })).toEqual([500, 500]);
    expect(limits({ timeout: 90 })).toEqual([30_000, 90_000]);
    expect(limits({ startup_timeout_sec: 0.5, tool_timeout_sec: 6000 })).toEqual([500, 6_000_000]);
    expect(limits({ requestTimeoutMs: 500, timeout: 2 })).toEqual([500, 2000]);
    expect(limits({ requestTimeoutMs: 500, timeout: 2, tool_timeout_sec: 3, startup_timeout_sec: 4 })).toEqual([
      4000, 3000,
    ]);
    expect(limits({ tool_timeout_sec: 1e12 })).toEqual([30_000, 1e15]);
  });

  it("[E199] does not use a limit that was meant in another unit, and says so", () => {
    for (const entry of [{ requestTimeoutMs: 30 }, { timeout: 30_000 }]) {
      const { policy, problems } = policyOf(entry);
      expect([policy?.startTimeoutMs, policy?.callTimeoutMs]).toEqual([30_000, 30_000]);
      expect(problems).toEqual([expect.stringMatching(/ warning .* is in (milli)?seconds/)]);
    }
  });

  it("refuses a limit that is none", () => {
    for (const timeout of [0, -1])
      expect(refusal({ command: "x", timeout })).toMatch(/"timeout" must be a number above zero/);
    expect(refusal({ command: "x", requestTimeoutMs: "30" })).toMatch(
      /"requestTimeoutMs" must be a number, not a string/,
    );
    expect(refusal('{"command": "x", "tool_timeout_sec": 1e999}')).toMatch(/above zero/);
  });

  it("says how a process is written to and how it is ended", () => {
    expect(policyOf({}, "settings").policy).toMatchObject({ framing: "auto", shutdown: "polite" });
    expect(policyOf({}).policy).toMatchObject({ framing: "newline", shutdown: "close" });
    const said = { framing: "Content-Length", shutdown: "polite" };
    expect(policyOf(said).policy).toMatchObject({ framing: "content-length", shutdown: "polite" });
    expect(refusal({ command: "x", framing: "lsp" })).toMatch(
      /"framing" must be one of "auto", "newline", "content-length"\.$/,
    );
    expect(refusal({ command: "x", shutdown: true })).toMatch(/"shutdown" must be a string/);
  });

  it("takes a protocol revision", () => {
    expect(policyOf({ protocolVersion: "2025-06-18" }, "settings").policy?.protocolVersion).toBe("2025-06-18");
    expect(refusal({ command: "x", protocolVersion: "latest" })).toMatch(/must be "auto" or the date of a revision/);
  });

  it("warns about a revision nobody knows, and names those there are", () => {
    for (const protocolVersion of ["auto", ...MODERN_VERSIONS, ...LEGACY_VERSIONS]) {
      expect(policyOf({ protocolVersion }).problems).toEqual([]);
    }
    const { policy, problems } = policyOf({ protocolVersion: "2025-06-17" });
    expect(policy?.protocolVersion).toBe("2025-06-17");
    expect(problems).toEqual([
      expect.stringMatching(
        / warning .*"2025-06-17", which is no revision .* Known are "auto", 2026-07-28, 2025-11-25, .*2024-10-07\.$/,
      ),
    ]);
  });

  it("goes with the names of the fields that set the limits", () => {
    const fields = (entry: object) => read({ command: "x", ...entry }).server?.limitFields;
    expect(fields({})).toBeUndefined();
    expect(fields({ requestTimeoutMs: 500 })).toEqual({ start: "requestTimeoutMs", call: "requestTimeoutMs" });
    expect(fields({ requestTimeoutMs: 500, timeout: 2 })).toEqual({ start: "requestTimeoutMs", call: "timeout" });
    expect(fields({ timeout: 2, tool_timeout_sec: 3, startup_timeout_sec: 4 })).toEqual({
      start: "startup_timeout_sec",
      call: "tool_timeout_sec",
    });
    expect(fields({ timeout: 2 })).toEqual({ call: "timeout" });
    // What is not used sets nothing.
    expect(fields({ requestTimeoutMs: 30 })).toBeUndefined();
  });
});

describe("the exposure", () => {
  it("is the gateway unless tools are to be direct", () => {
    const exposure = (entry: object) => read({ command: "x", ...entry }).server?.exposure;
    expect(exposure({})).toBe("gateway");
    expect(exposure({ exposure: "direct" })).toBe("direct");
    expect(exposure({ directTools: true })).toBe("direct");
    expect(exposure({ directTools: ["a"] })).toBe("gateway");
    expect(exposure({ exposure: "gateway", directTools: true })).toBe("gateway");
  });

  it("warns about a word it does not know", () => {
    const { server, problems } = read({ command: "x", exposure: "dirct" });
    expect(server?.exposure).toBe("gateway");
    expect(problems).toEqual([expect.stringMatching(/ warning .*"gateway", "direct", .*; "gateway" is used/)]);
  });
});

describe("a server that may have to be fetched first", () => {
  const start = (entry: object, origin?: Origin) => read(entry, origin).server?.policy.startTimeoutMs;
  const npx = { command: "npx", args: ["-y", "x"] };

  it("has a minute to start, and as long as others for a call", () => {
    for (const origin of ["settings", "mcpjson"] as const) {
      expect([start(npx, origin), start({ command: "node" }, origin)]).toEqual([60_000, 30_000]);
    }
    expect(read(npx).server?.policy.callTimeoutMs).toBe(30_000);
  });

  it("has the limit its entry sets, however that is called", () => {
    expect(start({ ...npx, requestTimeoutMs: 5_000 })).toBe(5_000);
    expect(start({ ...npx, startup_timeout_sec: 90 })).toBe(90_000);
  });
});

describe("where stderr goes", () => {
  const stderr = (more: object, origin?: Origin) => read({ command: "x", ...more }, origin).server?.policy.stderr;

  it("is what the entry says, else what `debug` says, else the origin's", () => {
    expect([stderr({}), stderr({}, "acp")]).toEqual(["ring", "file"]);
    expect([stderr({ stderr: "file" }), stderr({ debug: true }), stderr({ debug: false })]).toEqual([
      "file",
      "show",
      "ring",
    ]);
    expect(stderr({ debug: true, stderr: "ring" })).toBe("ring");
  });

  it("is not decided by what is no answer, which is said", () => {
    expect(read({ command: "x", debug: "yes" })).toMatchObject({
      server: { policy: { stderr: "ring" } },
      problems: [expect.stringContaining('"debug" should be true or false; it is not used.')],
    });
    expect(read({ command: "x", stderr: "loud" }).problems).toEqual([
      expect.stringContaining('"stderr" must be one of "ring", "file", "show".'),
    ]);
  });
});

it("npx is looked through by default in an mcp.json alone, and where an entry says so", () => {
  const resolves = (more: object, origin?: Origin) =>
    read({ command: "npx", ...more }, origin).server?.policy.resolveNpx;
  expect([resolves({}), resolves({}, "settings"), resolves({}, "acp")]).toEqual([true, false, false]);
  expect([resolves({ resolveNpx: false }), resolves({ resolveNpx: true }, "settings")]).toEqual([false, true]);
});
