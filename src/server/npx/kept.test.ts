import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keep, readKept } from "./kept.ts";

let root: string;
let file: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "npx-kept-test-"));
  file = join(root, "agent", "mcp-npx-cache.json");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const entry = (resolvedAt: number) => ({ resolvedBin: "/x", resolvedAt, packageVersion: "1.0.0", isJs: true });

it("is made with its folder, for its owner alone", () => {
  expect(readKept(file, "a")).toBe(undefined);
  keep(file, "a", entry(5));
  expect(readKept(file, "a")).toEqual(entry(5));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("holds the newest entries, and names that JavaScript has a meaning for", () => {
  for (let n = 0; n < 210; n++) keep(file, `key ${n}`, entry(n));
  keep(file, "__proto__", entry(1_000));
  expect(readKept(file, "__proto__")).toEqual(entry(1_000));
  expect(readKept(file, "constructor")).toBe(undefined);
  expect([readKept(file, "key 209"), readKept(file, "key 3")]).toEqual([entry(209), undefined]);
});

it("keeps a link to where a person has put the file", () => {
  const elsewhere = join(root, "elsewhere.json");
  keep(elsewhere, "a", entry(1));
  const link = join(root, "link.json");
  symlinkSync(elsewhere, link);
  keep(link, "b", entry(2));
  expect([readKept(elsewhere, "a"), readKept(elsewhere, "b")]).toEqual([entry(1), entry(2)]);
});

it("does without where nothing can be written", () => {
  writeFileSync(join(root, "agent"), "no folder");
  expect(() => keep(file, "a", entry(1))).not.toThrow();
  expect(readKept(file, "a")).toBe(undefined);
});

// The superuser may write everywhere.
it.skipIf(process.getuid?.() === 0)("does without where nothing may be written", () => {
  keep(file, "a", entry(1));
  chmodSync(join(root, "agent"), 0o500);
  expect(() => keep(file, "b", entry(1))).not.toThrow();
  chmodSync(join(root, "agent"), 0o700);
  expect(readdirSync(join(root, "agent"))).toEqual(["mcp-npx-cache.json"]);
});

it("is whole at every moment while several processes write to it", async () => {
  const module = new URL("./kept.ts", import.meta.url).href;
  const program = (name: string) => `
    const { keep } = await import(${JSON.stringify(module)});
    for (let n = 0; n < 30; n++) keep(${JSON.stringify(file)}, "${name}", ${JSON.stringify(entry(1))});
  `;
  const names = ["a", "b", "c"];
  let running = names.length;
  const ended = names.map((name) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(name)], { stdio: "inherit" });
    return new Promise((resolve) => child.once("exit", (code) => resolve([--running, code][1])));
  });
  while (running > 0) {
    if (existsSync(file)) expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("version", 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await Promise.all(ended)).toEqual([0, 0, 0]);
  expect(readdirSync(join(root, "agent"))).toEqual(["mcp-npx-cache.json"]);
  expect(names.map((name) => readKept(file, name)).filter((kept) => kept !== undefined).length).toBeGreaterThan(0);
});
