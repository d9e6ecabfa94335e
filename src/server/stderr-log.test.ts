import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStderrLog } from "./stderr-log.ts";

let root: string;
let log: string;
let notices: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "stderr-log-test-"));
  log = join(root, "home", "logs", "mcp", "fake.log");
  notices = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function write(chunks: readonly (string | Buffer)[], limits?: Parameters<typeof openStderrLog>[2]) {
  const sink = openStderrLog(log, (text) => notices.push(text), limits);
  for (const chunk of chunks) sink.write(Buffer.from(chunk));
  await sink.close();
}

function put(text: string, mode = 0o600): void {
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, text, { mode });
}

it("[S2-56] [S2-58] keeps all bytes in their order, behind those of earlier starts", async () => {
  const odd = Buffer.from([0xff, 0x00, 0x1b, 0x5b, 0x0d, 0x0a, 0xc3]);
  await write(["one\n", odd]);
  await write(Array.from({ length: 500 }, (_, n) => `${n}\n`));
  const expected = [Buffer.from("one\n"), odd, Buffer.from(Array.from({ length: 500 }, (_, n) => `${n}\n`).join(""))];
  expect(readFileSync(log).equals(Buffer.concat(expected))).toBe(true);
  expect(notices).toEqual([]);
});

it("is its owner's alone, and so is its folder, whatever they were before", async () => {
  put("old\n", 0o644);
  chmodSync(dirname(log), 0o755);
  await write(["new\n"]);
  expect([statSync(log).mode & 0o777, statSync(dirname(log)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(log, "utf8")).toBe("old\nnew\n");
});

it("[S2-57] begins anew above 512 KB and not below", async () => {
  put("x".repeat(512 * 1024));
  await write(["more"]);
  expect(statSync(log).size).toBe(512 * 1024 + 4);
  await write(["anew"]);
  expect(readFileSync(log, "utf8")).toBe("anew");
});

it("holds two files' worth of a server that never stops talking, its last words among them", async () => {
  const limits = { keptBytes: 100, maxBytes: 1_000, waitingBytes: 1_000_000 };
  const sink = openStderrLog(log, (text) => notices.push(text), limits);
  for (let n = 0; n < 200; n++) {
    sink.write(Buffer.from(`${String(n).padStart(99, ".")}\n`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await sink.close();
  const all = [`${log}.1`, log].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("");
  expect(all.length).toBeLessThanOrEqual(2_000);
  expect(all.trimEnd().split("\n").at(-1)).toMatch(/\.199$/);
  expect(readFileSync(log, "utf8")).toContain(".199\n");
  expect(notices).toEqual([]);
});

it("goes on in the new file when another session has begun it", async () => {
  const limits = { keptBytes: 10_000, maxBytes: 1_000, waitingBytes: 1_000_000 };
  const sinks = [1, 2].map(() => openStderrLog(log, (text) => notices.push(text), limits));
  for (let n = 0; n < 60; n++) {
    for (const sink of sinks) sink.write(Buffer.from("y".repeat(100)));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(sinks.map((sink) => sink.close()));
  expect(notices).toEqual([]);
  expect(statSync(log).size + statSync(`${log}.1`).size).toBeLessThan(6_000);
});

it.each<[string, () => void, string]>([
  ["a link", () => symlinkSync(join(root, "target"), log), "a link has its name"],
  ["a folder", () => mkdirSync(log), "EISDIR"],
  ["a pipe", () => spawnSync("/usr/bin/env", ["mkfifo", log]), "ENXIO"],
  [
    "a file with a second name",
    () => {
      writeFileSync(join(root, "target"), "precious");
      linkSync(join(root, "target"), log);
    },
    "the file has another name as well",
  ],
])("writes nothing into %s, and says so once", async (_, make, reason) => {
  mkdirSync(dirname(log), { recursive: true });
  make();
  await write(["a", "b", "c"]);
  expect(notices).toEqual([expect.stringContaining(reason)]);
  expect(notices[0]).toMatch(/^its log fake\.log is not written: /);
  expect(existsSync(join(root, "target")) ? readFileSync(join(root, "target"), "utf8") : "precious").toBe("precious");
});

it("where no folder can be made says so once", async () => {
  writeFileSync(join(root, "home"), "a file");
  await write(["a", "b"]);
  expect(notices).toEqual(["its log fake.log is not written: the system says ENOTDIR"]);
});

it.runIf(existsSync("/dev/full"))("a full disk is told once and stops nothing", async () => {
  // The one file of a full disk that every Linux has is a device, so the way there is what is tested elsewhere.
  const sink = openStderrLog("/dev/full", (text) => notices.push(text));
  for (let n = 0; n < 100; n++) sink.write(Buffer.from("x"));
  await sink.close();
  expect(notices).toHaveLength(1);
});

it("what cannot be written in time is left out, but not the last words, and said once", async () => {
  const limits = { keptBytes: 1_000, maxBytes: 1e6, waitingBytes: 1_000 };
  await write(
    Array.from({ length: 100 }, (_, n) => String(n).padStart(100)),
    limits,
  );
  expect(notices).toEqual(["its log fake.log is not complete: the disk is too slow for all it says"]);
  expect(statSync(log).size).toBeLessThanOrEqual(1_000);
  expect(readFileSync(log, "utf8")).toMatch(/ 98 +99$/);
});
