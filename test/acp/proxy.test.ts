import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Home, temporaryHome } from "../ground/home.ts";
import { NODES, runCli } from "../ground/run-cli.ts";

const [{ node }] = NODES as [(typeof NODES)[0]];
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** Puts lines through a proxy whose agent gives back each line, and gives what comes out. */
async function through(home: Home, lines: readonly string[], agent = ["cat"]) {
  const child = spawn(node, [CLI, "acp", "--no-shim", "--", ...agent], {
    cwd: home.cwd,
    env: home.env(),
    stdio: "pipe",
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  child.stdin.on("error", () => {});
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...output };
}

const left = (home: Home) => readdirSync(home.path("run")).filter((name) => name.startsWith("pi-mcp-acp"));

test("lines come through both ways as they are, however long, and nothing stays behind", async () => {
  await using home = await temporaryHome();
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"_some/thing","params":{"number":12345678901234567890, "text":"ü\u2028"}}',
    "no JSON",
    `{"jsonrpc":"2.0","method":"session/update","params":{"text":"${"x".repeat(10_000_000)}"}}`,
    '{"jsonrpc":"2.0","id":1,"result":{}}',
  ];
  const { code, stdout, stderr } = await through(home, lines);
  expect(stdout === lines.map((line) => `${line}\n`).join("")).toBe(true);
  expect([code, stderr, left(home)]).toEqual([0, "", []]);
});

test("the agent's end is the proxy's, with its code; what it says on stderr is passed on", async () => {
  await using home = await temporaryHome();
  const { code, stderr } = await through(home, [], ["sh", "-c", "echo why >&2; exit 3"]);
  expect([code, stderr]).toEqual([3, "why\n"]);
});

test("an agent that is not there is said in one sentence", async () => {
  await using home = await temporaryHome();
  const { code, stdout, stderr } = await through(home, [], ["no-such-agent"]);
  expect([code === 0, stdout]).toEqual([false, ""]);
  expect(stderr).toBe("pi-mcp: the agent `no-such-agent` could not be started (ENOENT)\n");
  expect(left(home)).toEqual([]);
});

test("a wrong command line starts nothing", async () => {
  await using home = await temporaryHome();
  for (const args of [["pi-acp"], ["--permission", "maybe"], ["--"], ["--", ""]]) {
    expect(await runCli(node, home, "acp", ...args)).toMatchObject({ code: 2, stdout: "" });
  }
});

test("folders of proxies that were killed are removed; those of living ones, and what is none, stay", async () => {
  await using home = await temporaryHome();
  const folder = (name: string) => {
    const path = home.path(`run/pi-mcp-acp-${name}`);
    mkdirSync(path);
    return path;
  };
  const [dead, living, young] = [folder("dead"), folder("living"), folder("young")];
  writeFileSync(home.path("run/pi-mcp-acp-file"), "");
  const listen = (path: string) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer().listen(path, () => resolve(server));
    });
  const server = await listen(`${living}/s`);
  const killed = spawn(process.execPath, [
    "-e",
    `require("node:net").createServer().listen("${dead}/s", () => process.kill(process.pid, "SIGKILL"))`,
  ]);
  await new Promise((resolve) => killed.once("close", resolve));
  expect(existsSync(`${dead}/s`)).toBe(true);
  await through(home, []);
  expect(left(home).sort()).toEqual(["pi-mcp-acp-file", "pi-mcp-acp-living", "pi-mcp-acp-young"]);
  expect(existsSync(young)).toBe(true);
  server.close();
});
