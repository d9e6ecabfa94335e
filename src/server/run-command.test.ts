import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CommandFailure, runCommand } from "./run-command.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "run-command-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const NEVER = new AbortController().signal;
const env = () => ({ PATH: process.env.PATH, WORD: "from the environment" });

function run(command: string, limitMs = 10_000, signal = NEVER): Promise<string> {
  return runCommand(command, { env: env(), cwd: folder, signal, limitMs });
}

function failureOf(command: string, limitMs?: number, signal?: AbortSignal): Promise<CommandFailure> {
  return run(command, limitMs, signal).then(
    () => {
      throw new Error("It did not fail.");
    },
    (error: CommandFailure) => error,
  );
}

/** The processes whose numbers a command has written to a file. */
function noted(file: string): number[] {
  return readFileSync(join(folder, file), "utf8").trim().split(/\s+/).map(Number);
}

function lives(pid: number): boolean {
  try {
    // A zombie waits for its parent and is none.
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

describe.skipIf(process.platform === "win32")("a command for a value", () => {
  it("gives what it writes, without the line ends behind it, and what stands before them as it is", async () => {
    expect(await run("printf ' a b \\n\\r\\n'")).toBe(" a b ");
    expect(await run("printf 'a\\nb\\n'")).toBe("a\nb");
    expect(await run("printf '\\303\\251'")).toBe("é");
    expect(await run("pwd")).toBe(folder);
  });

  it("is given its arguments as they are when it is words and quotes", async () => {
    expect(await run(`node -p 'process.argv.slice(1).join("|")' "a b" 'c$WORD' d`)).toBe("a b|c$WORD|d");
    expect(await run("node -p process.ppid")).toBe(String(process.pid));
  });

  it("is run by a shell when it takes one", async () => {
    expect(await run("printf %s $WORD | tr a-z A-Z")).toBe("FROM THE ENVIRONMENT".replaceAll(" ", ""));
    expect(await run('printf %s "$(cat <<X\nx\nX\n)" && printf y')).toBe("xy");
    // One of the shell's own that is no program.
    expect(await run("command -v sh")).toMatch(/\/sh$/);
  });

  it("has nothing to read and no terminal to ask on", async () => {
    expect(await run("cat; echo end")).toBe("end");
    expect(await run("sh -c '(: </dev/tty) 2>/dev/null && echo tty || echo none'")).toBe("none");
  });

  it.each([
    ["exit 3", "ended with code 3"],
    ["kill -9 $$", "was ended by SIGKILL"],
    ["true", "wrote nothing"],
    ["printf ' \\n'", "wrote nothing"],
    ["printf '\\377\\376'", "wrote what is no text in UTF-8"],
    ["head -c 65537 /dev/zero", "wrote more than 64 KiB"],
    ["yes", "wrote more than 64 KiB"],
    ["no-such-program-here x", "ended with code 127"],
    ["./no-such-program-here", "ended with code 127"],
    ["/", "is not executable"],
    ["printf 'x", "ended with code 2"],
  ])("fails in words that hold neither the command nor its output: %s", async (command, message) => {
    const failure = await failureOf(command);
    expect([failure.name, failure.reason, failure.message]).toEqual(["CommandFailure", "failed", message]);
  });

  it("takes 64 KiB, and what it says on stderr is told when it fails", async () => {
    expect(await run("head -c 65536 /dev/zero | tr '\\0' x")).toHaveLength(65536);
    expect(await failureOf("echo out; echo sorry >&2; exit 1")).toMatchObject({ stderr: "sorry\n", stdout: "out\n" });
  });

  it("cannot be started in a folder that is not there", async () => {
    const gone = runCommand("echo x", { env: env(), cwd: join(folder, "gone"), signal: NEVER });
    await expect(gone).rejects.toMatchObject({ reason: "failed", message: "could not be started" });
  });

  it("is gone with all it started when its time is over, however deaf", async () => {
    writeFileSync(
      join(folder, "deaf.sh"),
      "trap '' TERM HUP INT\necho $$ >> pids\nsleep 60 & echo $! >> pids\nwhile :; do sleep 1; done\n",
    );
    const failure = await failureOf("sh deaf.sh & sh deaf.sh", 700);
    expect([failure.reason, failure.message]).toEqual(["timeout", "has not ended within 0.7 s"]);
    expect(noted("pids")).toHaveLength(4);
    expect(noted("pids").filter(lives)).toEqual([]);
  });

  it("is gone when it is no longer wanted, and is not started when it never was", async () => {
    const abort = new AbortController();
    const failing = failureOf("echo $$ > pids; sleep 60", 10_000, abort.signal);
    while (!existsSync(join(folder, "pids")) || noted("pids")[0] === 0)
      await new Promise((next) => setTimeout(next, 10));
    abort.abort();
    expect((await failing).reason).toBe("cancelled");
    expect(noted("pids").filter(lives)).toEqual([]);
    expect((await failureOf("touch started", 10_000, abort.signal)).reason).toBe("cancelled");
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  it("does not wait for what it leaves behind, and leaves nothing", async () => {
    expect(await run("sleep 60 & echo $! > pids; echo token")).toBe("token");
    expect(noted("pids").filter(lives)).toEqual([]);
  });
});
