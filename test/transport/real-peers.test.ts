import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { everythingOverHttp, REAL } from "../e2e/real-servers.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { sessionOf } from "../session/open.ts";

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

/** Runs until it is disposed of; resolves when it says that it listens. */
async function listening(home: Home, args: readonly string[], env: Record<string, string>): Promise<AsyncDisposable> {
  const child: ChildProcess = spawn(process.execPath, args, { env: home.env(env), stdio: ["ignore", "pipe", "pipe"] });
  const exit = once(child, "exit");
  let said = "";
  child.stdout?.on("data", (chunk) => (said += String(chunk)));
  child.stderr?.on("data", (chunk) => (said += String(chunk)));
  await until("it to listen", () => /listening|running on/i.test(said) || undefined);
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await exit;
    },
  };
}

async function echoes(home: Home, entry: object): Promise<void> {
  home.write({ mcp: { mcpServers: { everything: entry } } });
  await using session = sessionOf(home);
  expect((await session.listTools("everything")).map(({ name }) => name)).toContain("echo");
  const result = await session.callTool("everything", "echo", { message: "hé" });
  expect(result.content).toMatchObject([{ type: "text", text: "Echo: hé" }]);
}

test("[S2-12] server-everything over Streamable HTTP", async () => {
  await using home = await temporaryHome();
  const server = await everythingOverHttp(home);
  try {
    await echoes(home, { url: server.url });
  } finally {
    await server.stop();
  }
});

test("[S2-13] server-everything over HTTP with server-sent events, declared and found", async () => {
  await using home = await temporaryHome();
  const port = await freePort();
  await using _ = await listening(home, REAL.everything("", "sse").args, { PORT: String(port) });
  await echoes(home, { type: "sse", url: `http://127.0.0.1:${port}/sse` });
  await echoes(home, { url: `http://127.0.0.1:${port}/sse` });
});

test("[S2-13] a stdio server behind a gateway for server-sent events", async () => {
  await using home = await temporaryHome();
  const gateway = fileURLToPath(new URL("../../node_modules/supergateway/dist/index.js", import.meta.url));
  const { command, args } = REAL.everything("", "stdio");
  const port = await freePort();
  await using _ = await listening(
    home,
    [gateway, "--stdio", `"${command}" ${args.join(" ")}`, "--port", String(port)],
    {},
  );
  await echoes(home, { type: "sse", url: `http://127.0.0.1:${port}/sse` });
});
