// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { describe, expect, it } from "vitest";
import { ORIGINS } from "../config/origins.ts";
import type { ServerConfig, ServerTarget } from "../config/record.ts";
import { McpServerError } from "../error.ts";
import type { Check } from "./check.ts";
import { checkStart } from "./check-start.ts";
import { createSession } from "./create-session.ts";
import { diagnose } from "./diagnose.ts";
import type { McpSession } from "./session.ts";

const HTTP: ServerTarget = { kind: "http", url: "http://127.0.0.1:1/mcp", headers: {} };

function server(name: string, target: ServerTarget = HTTP, origin: "settings" | "mcpjson" = "mcpjson"): ServerConfig {
  const source = { file: "/a/mcp.json", line: 1, column: 1 };
  return { name, origin, source, target, policy: ORIGINS[origin], exposure: "gateway", fields: {} };
}

const PLACE = { env: { PATH: "/bin:/usr/bin" }, cwd: "/" };

/** A session whose servers answer as told, without anything being started. */
function fake(servers: readonly ServerConfig[], more: Partial<McpSession>): McpSession {
  const plain = createSession({ servers, problems: [] }, PLACE);
  return {
    ...plain,
    describe: () =>
      Promise.resolve({
        era: "legacy",
        protocolVersion: "2025-11-25",
        name: "s",
        version: "1",
        capabilities: ["tools"],
      }),
    listTools: () => Promise.resolve([{ name: "t", inputSchema: {}, annotations: {}, raw: {} }]),
    ...more,
  };
}

const statuses = (checks: readonly Check[]) => checks.map(({ id, status }) => `${id} ${status}`);

describe("diagnose", () => {
  it("looks at four servers at a time, in order, and gives each its own answer", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    let running = 0;
    let most = 0;
    const begun: string[] = [];
    const session = fake(
      names.map((name) => server(name)),
      {
        describe: async (name) => {
          begun.push(name);
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          if (name === "s3") throw new McpServerError(name, "needs-auth", "it wants a token");
          return { era: "modern", protocolVersion: "2026-07-28", name: "", version: "", capabilities: [] };
        },
      },
    );
    const diagnoses = await Promise.all(diagnose(session, PLACE, undefined));
    expect([most, begun]).toEqual([4, names]);
    expect(diagnoses.map(({ server, category }) => [server, category])).toEqual(
      names.map((name) => [name, name === "s3" ? "needs-auth" : undefined]),
    );
    expect(diagnoses[0]?.checks.find(({ id }) => id === "protocol")?.text).toBe(
      "2026-07-28, without a handshake; it does not say what it is; it offers nothing",
    );
  });

  it("ends with the first thing that fails; a list that is refused is only worth a warning", async () => {
    const listing = fake([server("a")], {
      listTools: () => Promise.reject(new McpServerError("a", "timeout", "too slow")),
    });
    const [failed] = await Promise.all(diagnose(listing, PLACE, undefined));
    expect(statuses(failed?.checks ?? []).slice(3)).toEqual(["connection ok", "protocol ok", "tools failed"]);
    expect(failed?.category).toBe("timeout");

    const capabilities = ["tools", "resources", "prompts"];
    const odd = fake([server("a")], {
      describe: () =>
        Promise.resolve({ era: "legacy", protocolVersion: "2025-11-25", name: "s", version: "1", capabilities }),
      count: (name, list) =>
        list === "resources" ? Promise.resolve(2) : Promise.reject(new McpServerError(name, "other", `no ${list}`)),
    });
    const [warned] = await Promise.all(diagnose(odd, PLACE, undefined));
    expect(statuses(warned?.checks ?? []).slice(5)).toEqual(["tools ok", "resources ok", "prompts warning"]);
    expect(warned).not.toHaveProperty("category");

    const cut = fake([server("a")], {
      describe: odd.describe,
      count: () => Promise.reject(new McpServerError("a", "connection", "it went away")),
    });
    const [gone] = await Promise.all(diagnose(cut, PLACE, undefined));
    expect(statuses(gone?.checks ?? []).slice(5)).toEqual(["tools ok", "resources failed"]);
    expect(gone?.category).toBe("connection");
  });

  it("tells its own limit from the caller's wish to stop", async () => {
    const hangs = fake([server("a")], {
      describe: (name, options) =>
        new Promise((_, reject) => {
          const stop = () => reject(new McpServerError(name, "cancelled", "cancelled"));
          if (options?.signal?.aborted) stop();
          options?.signal?.addEventListener("abort", stop, { once: true });
        }),
    });
    const [late] = await Promise.all(diagnose(hangs, PLACE, "a", { limitMs: 20 }));
    expect(late).toMatchObject({ category: "timeout" });
    expect(late?.checks.at(-1)?.text).toContain("it was not done after 0.02 s");
    const [stopped] = await Promise.all(diagnose(hangs, PLACE, "a", { signal: AbortSignal.abort() }));
    expect(stopped).toMatchObject({ category: "cancelled" });
  });

  it("knows a name that is nowhere", () => {
    expect(() => diagnose(fake([server("a")], {}), PLACE, "b")).toThrow(/no MCP server configured with name `b`/);
  });
});

describe("checkStart", () => {
  const of = (config: ServerConfig, env: NodeJS.ProcessEnv = PLACE.env, cwd = "/") => checkStart(config, { env, cwd });

  it("shows no secret, neither of a command line in the place of the program nor in the host of an address", () => {
    const line: ServerTarget = { kind: "stdio", command: "npx x --api-key Hunter2hunter2", args: [], env: {} };
    const host: ServerTarget = { kind: "http", url: "https://${TOKEN}.example.com/", headers: {} };
    for (const target of [line, host]) {
      const told = JSON.stringify(of(server("a", target), { ...PLACE.env, TOKEN: "Hunter2hunter2" }));
      expect(told).toMatch(/REDACTED/);
      expect(told).not.toMatch(/hunter2/i);
    }
  });
  const stdio = (command: string, more: object = {}): ServerTarget => ({
    kind: "stdio",
    command,
    args: [],
    env: {},
    ...more,
  });

  it("says what is not set, and what stands in its place", () => {
    const target = stdio("sh", { env: { A: "$NOT_SET", B: "$PATH" } });
    expect(of(server("a", target))[0]).toMatchObject({
      status: "warning",
      text: "not set: NOT_SET (as ${NAME} it becomes nothing, as $NAME it stays as it is)",
      hint: expect.stringContaining("${NAME:-value}"),
    });
    expect(of(server("a", target, "settings"))[0]?.text).toMatch(/^not set: NOT_SET \(it stays as it is written\)$/);
  });

  it("finds the program on the PATH the process would get", () => {
    expect(of(server("a", stdio("sh")))[1]).toMatchObject({ status: "ok", text: expect.stringMatching(/\/sh$/) });
    expect(of(server("a", stdio("sh", { env: { PATH: "/nowhere" } })))[1]).toMatchObject({
      status: "failed",
      text: "`sh` was not found",
      details: ["not there: /nowhere/sh"],
    });
    expect(of(server("a", stdio("sh -c x")))[1]?.hint).toMatch(/write "command": "sh" and the rest as "args"/);
    expect(of(server("a", stdio("sh", { cwd: "no/such" })), PLACE.env, "/tmp")[1]).toMatchObject({
      status: "failed",
      text: "the working directory /tmp/no/such is not there",
    });
  });

  it("shows paths, and no secret in them", () => {
    const env = { ...PLACE.env, MY_TOKEN: "hunter2", DIR: "/opt/x" };
    const [variables, program] = of(server("a", stdio("$DIR/$MY_TOKEN/x")), env);
    expect([variables?.status, program?.status]).toEqual(["ok", "failed"]);
    expect(JSON.stringify(program)).not.toContain("hunter2");
    expect(program?.details).toEqual(["not there: /opt/x/[REDACTED]/x"]);
  });

  it("says how an address is reached, and what keeps it from being one", () => {
    const web = (url: string, more: object = {}) => server("a", { kind: "http", url, headers: {}, ...more });
    const last = (config: ServerConfig, env = {}) => of(config, { ...PLACE.env, ...env }).at(-1);
    const HTTPS_PROXY = "http://user:hunter2@proxy.example:3128";
    expect(last(web("https://h.example/x?key=hunter2"), { HTTPS_PROXY })).toMatchObject({
      status: "ok",
      text: "https://h.example, through the proxy proxy.example:3128 of HTTPS_PROXY",
    });
    expect(last(web("http://localhost:1/"), { HTTP_PROXY: HTTPS_PROXY })?.text).toMatch(/reached directly$/);
    expect(last(web("https://h/"), { HTTPS_PROXY: "socks5://p:1" })).toMatchObject({ status: "failed" });
    expect(last(web("$URL"), { URL: "hunter2" })).toMatchObject({
      status: "failed",
      text: expect.not.stringContaining("hunter2"),
    });
    expect(last(web("https://h/", { ca: "/no/such.pem" }))?.text).toBe('the file /no/such.pem ("ca") cannot be read');
  });
});
