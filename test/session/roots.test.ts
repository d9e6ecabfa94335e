import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeStdio, type ServerScript } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";

const SCRIPT: ServerScript = { on: { "tools/call": { ask: { method: "roots/list" }, usual: true } } };

test("servers of an mcp.json hear which folder the session works in, others only where their entry says so", async () => {
  await using home = await temporaryHome();
  const [mcpjson, settings, both, acp] = await Promise.all([1, 2, 3, 4].map(() => fakeStdio(home, SCRIPT)));
  if (!mcpjson || !settings || !both || !acp) throw new Error("There are four.");
  const { name, ...entry } = mcpjson.entry("mcpjson");
  home.write({
    mcp: { mcpServers: { [name]: entry } },
    settings: { mcpServers: [settings.entry("settings"), both.entry("both", { offersRoots: true })] },
  });
  const config = loadConfig({ env: home.env(), home: home.home });
  const handed = readAcpServers([{ name: "acp", command: acp.command, args: [...acp.args], env: [] }]);
  const servers = [...config.servers, ...handed.servers];
  await using session = createSession({ ...config, servers }, { env: home.env(), cwd: home.cwd });
  for (const each of servers) await session.callTool(each.name, "echo", {});
  const told = (server: typeof acp) =>
    server
      .received()
      .flatMap(({ message }) => (message?.method === undefined && message?.result ? [message.result] : []));
  const roots = [{ roots: [{ uri: pathToFileURL(home.cwd).href }] }];
  expect([mcpjson, settings, both, acp].map(told)).toEqual([roots, [], roots, []]);
});
