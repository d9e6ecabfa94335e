import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import { temporaryHome } from "../ground/home.ts";
import { HOSTS } from "../ground/run-pi.ts";
import { mcp, sessionWith } from "../session/open.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const call = { action: "call", server: "fake", tool: "echo" };

function cli(node: string, home: Home, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(node, [CLI, ...args], { cwd: home.cwd, env: home.env(), stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, ...output }));
  });
}

const nodes = HOSTS.map(({ version, node }) => ({ version, node }));


test("a secret that lies across the cut of noise on stdout is not shown in part", async () => {
  const secret = "s3cr3t-value-of-mine";
  await using home = await temporaryHome();
  const { session } = await sessionWith(
    home,
    { startup: { stdout: `${"x".repeat(185)}${secret}\n`, exit: 1 } },
    { env: { TOKEN: secret } },
  );
  await using _ = session;
  expect((await mcp(session, call)).text).not.toContain("s3cr3t-value");
});

test("an answer over the message cap fails its call with that reason, not as a time-out", async () => {
  await using home = await temporaryHome();
  const raw = [
    `{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":"`,
    { repeat: "x".repeat(1024), times: 65 * 1024 },
    `"}]}}\n`,
  ];
  const { session } = await sessionWith(home, { on: { "tools/call": { raw } } }, { requestTimeoutMs: 8_000 });
  await using _ = session;
  const answer = await mcp(session, call);
  expect(answer.text).not.toContain("timed out");
  expect(answer.text).toMatch(/larger|too large|64 MiB/);
});

