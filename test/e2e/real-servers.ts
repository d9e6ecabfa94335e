import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Home } from "../ground/home.ts";

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/** Real servers from npm, as a person would configure them, by the name of their package. */
export const REAL = {
  everything: server("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: server("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: server("@modelcontextprotocol/server-memory/dist/index.js"),
  sequentialThinking: server("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
  context7: server("@upstash/context7-mcp/dist/index.js"),
  codeRunner: server("mcp-server-code-runner/dist/cli.js"),
} as const;

function server(path: string) {
  return (name: string, ...args: string[]) => ({
    name,
    command: process.execPath,
    args: [`${MODULES}${path}`, ...args],
  });
}

/** server-everything over Streamable HTTP, on a port that was free a moment ago. */
export async function everythingOverHttp(home: Home): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const { command, args } = REAL.everything("http", "streamableHttp");
  const child = spawn(command, args, { env: home.env({ PORT: String(port) }), stdio: ["ignore", "pipe", "pipe"] });
  await said(child, /listening|running/i);
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => stop(child) };
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  return new Promise((resolve, reject) => {
    const probe = createServer()
      .once("error", reject)
      .listen(0, "127.0.0.1", () => {
        const { port } = probe.address() as { port: number };
        probe.close(() => resolve(port));
      });
  });
}

function said(child: ChildProcess, words: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const hear = (chunk: Buffer) => {
      output += chunk.toString();
      if (words.test(output)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(`The server ended: ${output}`)));
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
