import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { type ProxyOptions, runProxy } from "./run.ts";

/** Says its process id and stays until its input ends. */
const AGENT = "console.log(process.pid); process.stdin.resume()";

function options(program: string, others: Partial<ProxyOptions> = {}): ProxyOptions {
  const folder = mkdtempSync(join(tmpdir(), "acp-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    command: [process.execPath, "-e", program],
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    cwd: folder,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    ...others,
  };
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("an editor that cannot be written to costs the agent its life, and is said", async () => {
  const said: string[] = [];
  const stdout = new Writable({
    write(chunk) {
      said.push(String(chunk));
      throw new Error("no editor");
    },
  });
  await expect(runProxy(options(AGENT, { stdout }))).rejects.toThrow("no editor");
  expect(Number(said[0])).toBeGreaterThan(1);
  expect(lives(Number(said[0]))).toBe(false);
});

test("a proxy that is given up before its agent has started ends", { timeout: 15_000 }, async () => {
  expect(await runProxy(options(AGENT, { signal: AbortSignal.abort() }))).toBeTypeOf("number");
});

/** Leaves when it is told to, or by itself when all the time is over that an agent has for ending. */
const STUBBORN = `
  process.on("SIGTERM", () => { console.log("bye"); process.exit(7); });
  process.stdin.resume().on("end", () => setTimeout(() => process.exit(9), 5_000));
  console.log("up");
`;

test("an agent that stays when its editor has gone is told to end while it has time to", {
  timeout: 15_000,
}, async () => {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const said: string[] = [];
  stdout.on("data", (chunk) => {
    said.push(String(chunk));
    stdin.end();
  });
  expect(await runProxy(options(STUBBORN, { stdin, stdout }))).toBe(7);
  expect(said.join("")).toBe("up\nbye\n");
});
