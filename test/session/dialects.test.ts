import { expect, test } from "vitest";
import { fakeHttp, fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { mcp, sessionOf } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

test("[S1-08] a server in a Grok table of settings.toml is started like one of settings.json", async () => {
  await using home = await temporaryHome();
  const server = await fakeStdio(home);
  home.write({
    files: {
      "agent/settings.toml": `[mcp_servers.fake]
command = ${JSON.stringify(server.command)}
args = ${JSON.stringify([...server.args, "--flag"])}
env = { LEVEL = "debug" }
`,
    },
  });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()).toMatchObject([{ args: ["--flag"], env: { LEVEL: "debug" } }]);
});

test("[S3-54] [S3-55] [S3-58] values in mcp.json reach the process with variables, defaults and escapes resolved", async () => {
  await using home = await temporaryHome({ env: { MY_API_KEY: "k-12345", EMPTY: "" } });
  const server = await fakeStdio(home);
  const env = {
    API_KEY: "${MY_API_KEY}",
    LOG_LEVEL: "debug",
    NONE: "${NOPE}",
    PLAIN: "a b, {c} 5% ~/x",
    DEFAULT: "${NOPE:-d}${EMPTY:-e}${MY_API_KEY:-f}",
    OTHERS: "$env:MY_API_KEY {env:MY_API_KEY}",
    ESCAPED: "$$MY_API_KEY $!x",
  };
  home.write({ mcp: { mcpServers: { fake: { command: [server.command, ...server.args], environment: env } } } });
  await using session = sessionOf(home);
  await mcp(session, call);
  expect(server.launches()[0]?.env).toMatchObject({
    API_KEY: "k-12345",
    LOG_LEVEL: "debug",
    NONE: "",
    PLAIN: "a b, {c} 5% ~/x",
    DEFAULT: "dek-12345",
    OTHERS: "k-12345 k-12345",
    ESCAPED: "$MY_API_KEY !x",
  });
});

test("a bearer token is sent as a header and shown nowhere", async () => {
  await using home = await temporaryHome({ env: { MY_TOKEN: "s3cr3t-of-mine" } });
  const server = await fakeHttp({ on: { "tools/call": { text: "you sent s3cr3t-of-mine" } } });
  home.write({ mcp: { mcpServers: { fake: { serverUrl: server.url, bearerTokenEnv: "MY_TOKEN" } } } });
  await using session = sessionOf(home);
  const outputs = [await mcp(session, { action: "list_servers" }), await mcp(session, call)];
  expect(server.received()[0]?.headers?.authorization).toBe("Bearer s3cr3t-of-mine");
  expect(outputs[1]?.text).toContain("you sent");
  for (const { text } of outputs) expect(text).not.toContain("s3cr3t-of-mine");
});

test("[S1-58] [S1-59] [C17] a disabled server is never started, listed or named, whichever way it is disabled", async () => {
  await using home = await temporaryHome();
  const off = await fakeStdio(home);
  const on = await fakeStdio(home);
  home.write({
    settings: {
      mcpServers: [
        on.entry("seen"),
        off.entry("off-1", { disabled: true, exposure: "direct", lifecycle: "eager" }),
        off.entry("off-2", { enabled: false }),
        off.entry("off-3", { disabled: false, enabled: false }),
        off.entry("off-4"),
      ],
    },
    files: { "agent/settings.toml": "[mcp_servers.off-4]\nenabled = false\n\n[mcp_servers.off-5]\ndisabled = true\n" },
  });
  await using session = sessionOf(home);
  const texts: string[] = [];
  for (const name of ["off-1", "off-2", "off-3", "off-4", "off-5"]) {
    for (const action of ["call", "list_tools"]) {
      const { text } = await mcp(session, { ...call, action, server: name });
      expect(text).toMatch(new RegExp(`^MCP server \`${name}\` is disabled at .*settings\\.(json|toml):\\d+; `));
      // Whoever asks for it by its name is told so, and of no other.
      texts.push(text.replaceAll(name, ""));
    }
  }
  texts.push((await mcp(session, { action: "list_servers" })).text);
  expect(texts.at(-1)).toContain("seen");
  texts.push((await mcp(session, { ...call, server: "none" })).text);
  for (const text of texts) expect(text).not.toContain("off-");
  expect(off.starts()).toEqual([]);
});
