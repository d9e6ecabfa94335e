import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Lock, lockAt } from "./lock.ts";

const FIXTURE = fileURLToPath(new URL("lock.fixture.ts", import.meta.url));

let folder = "";
const path = () => join(folder, "a.lock");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lock-"));
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const isLinux = process.platform === "linux";

/** A lock as another holder would have left it. */
function held(change: object): void {
  const lock = lockAt(path())() as Lock;
  const holder = JSON.parse(readFileSync(join(path(), "holder"), "utf8")) as object;
  lock.release();
  mkdirSync(path());
  writeFileSync(join(path(), "holder"), JSON.stringify({ ...holder, id: "other", ...change }));
}

describe("a lock", () => {
  it("is one's own until it is released, and leaves nothing behind", () => {
    const first = lockAt(path())();
    expect(first?.inherited).toEqual([]);
    const tryLock = lockAt(path());
    expect([tryLock(), tryLock()]).toEqual([undefined, undefined]);
    expect(readdirSync(folder)).toEqual(["a.lock"]);
    first?.release();
    expect(readdirSync(folder)).toEqual([]);
    const second = tryLock();
    // Released before: nobody else's.
    first?.release();
    expect(existsSync(path())).toBe(true);
    second?.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says where nothing can be written", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => lockAt(join(folder, "file/a.lock"))()).toThrow(/ENOTDIR/);
  });

  it.runIf(isLinux)("[E134] of a dead process is taken over at once, with what it had noted", () => {
    const { pid } = spawnSync("true");
    held({ pid });
    writeFileSync(join(path(), "note-other"), "half way");
    const lock = lockAt(path())();
    expect(lock?.inherited).toEqual(["half way"]);
    lock?.release();
    // What is left of it tells those who come late that it is gone; what it had noted is told once.
    expect(readdirSync(folder)).toEqual(["a.lock.over-other"]);
    vi.useFakeTimers({ now: Date.now() + 11_000, toFake: ["Date"] });
    const next = lockAt(path())();
    expect(next?.inherited).toEqual([]);
    next?.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(isLinux)("[E134] of a dead process whose number another one has is taken over at once", () => {
    held({ pid: process.pid, start: "1" });
    expect(lockAt(path())()).toBeDefined();
  });

  it.runIf(isLinux)("of a zombie is taken over: nobody has asked yet how it ended", async () => {
    const child = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const pid = await new Promise<number>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(Number(data))),
    );
    try {
      await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, "latin1")).toContain(") Z "));
      held({ pid });
      expect(lockAt(path())()).toBeDefined();
    } finally {
      child.kill("SIGKILL");
    }
  });

  it.each([
    ["of a process of another computer or container", { where: "elsewhere", pid: 1 }],
    ["of a process that lives and is stopped", {}],
  ])("%s is taken over after it was silent for long enough, by our own clock", (_, change) => {
    vi.useFakeTimers();
    held(change);
    const tryLock = lockAt(path());
    const beat = (seconds: number) => utimesSync(join(path(), "holder"), seconds, seconds);
    // As old as can be by its own clock: that says nothing.
    beat(1);
    expect(tryLock()).toBeUndefined();
    vi.advanceTimersByTime(20_000);
    expect(tryLock()).toBeUndefined();
    beat(2);
    vi.advanceTimersByTime(20_000);
    expect(tryLock()).toBeUndefined();
    vi.advanceTimersByTime(24_000);
    expect(tryLock()).toBeUndefined();
    vi.advanceTimersByTime(2_000);
    expect(tryLock()).toBeDefined();
  });

  it("tells that its holder lives as long as it does", () => {
    vi.useFakeTimers();
    const lock = lockAt(path())();
    const tryLock = lockAt(path());
    for (let second = 0; second < 120; second++) {
      expect(tryLock()).toBeUndefined();
      vi.advanceTimersByTime(1_000);
    }
    lock?.release();
  });

  it("half of which is left is watched, and an empty folder is none", () => {
    vi.useFakeTimers();
    mkdirSync(path());
    lockAt(path())()?.release();
    mkdirSync(path());
    writeFileSync(join(path(), "holder"), "{");
    const tryLock = lockAt(path());
    expect(tryLock()).toBeUndefined();
    vi.advanceTimersByTime(31_000);
    expect(tryLock()).toBeDefined();
  });

  it.runIf(isLinux)(
    "[E134] is one process' alone among many, of which some are killed while they hold it",
    async () => {
      const file = join(folder, "count");
      writeFileSync(file, "0");
      const kills = [0, 10, 0, 20, 30];
      const ended = kills.map((kill) => {
        const child = spawn(process.execPath, [FIXTURE, path(), file, "40", String(kill)], { stdio: "inherit" });
        return new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
      });
      expect(await Promise.all(ended)).toEqual(kills.map((kill) => (kill === 0 ? 0 : "SIGKILL")));
      vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
      lockAt(path())()?.release();
      expect(Number(readFileSync(file, "utf8"))).toBe(
        kills.reduce((sum, kill) => sum + (kill === 0 ? 40 : kill - 1), 0),
      );
      expect(readdirSync(folder)).toEqual(["count"]);
    },
  );
});
