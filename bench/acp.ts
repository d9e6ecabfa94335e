/**
 * `npm run bench:acp`: what the proxy adds to `session/new`, between an editor and an agent that answers at once. The bound is
 * 30 ms.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryHome } from "../test/ground/home.ts";

const ROUNDS = 200;
const BOUND_MS = 30;
const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

const AGENT = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1, sessionId: "s" + id } }));
});`;
const agent = [process.execPath, "-e", AGENT];
const mcpServers = Array.from({ length: 10 }, (_, index) => ({
  name: `server-${index}`,
  command: "/usr/bin/server",
  args: ["--stdio"],
  env: [{ name: "TOKEN", value: "x".repeat(100) }],
}));

/** Milliseconds of the median request. */
async function median(command: readonly string[]): Promise<number> {
  await using home = await temporaryHome();
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: home.cwd, env: home.env(), stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, () => void>();
  createInterface({ input: child.stdout }).on("line", (line) => waiting.get(JSON.parse(line).id)?.());
  const ask = (id: number, method: string, params: object) =>
    new Promise<void>((resolve) => {
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask(0, "initialize", { protocolVersion: 1 });
  const times: number[] = [];
  for (let id = 1; id <= ROUNDS; id++) {
    const begun = performance.now();
    await ask(id, "session/new", { cwd: home.cwd, mcpServers });
    times.push(performance.now() - begun);
  }
  child.stdin.end();
  await new Promise((resolve) => child.once("close", resolve));
  return times.sort((a, b) => a - b)[ROUNDS / 2] ?? Number.NaN;
}

const without = await median(agent);
const behind = await median([process.execPath, CLI, "acp", "--no-shim", "--", ...agent]);
console.log(`session/new, median of ${ROUNDS}: ${without.toFixed(2)} ms, behind the proxy ${behind.toFixed(2)} ms`);
if (behind - without >= BOUND_MS) process.exitCode = 1;
