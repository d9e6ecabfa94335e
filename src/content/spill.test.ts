import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSpillStore, type Spilled } from "./spill.ts";

let parent = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "spill-test-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

function pathOf(spilled: Spilled): string {
  return "path" in spilled ? spilled.path : expect.fail(spilled.reason);
}

function text(content: string, source = "tool") {
  return { source, mimeType: "text/plain", content };
}

describe("createSpillStore", () => {
  it("makes nothing before there is something to keep", () => {
    createSpillStore({ parent });
    expect(readdirSync(parent)).toEqual([]);
  });

  it("keeps a session's files in one folder that nobody else can read", async () => {
    const store = createSpillStore({ parent });
    const bytes = Uint8Array.from([0, 255, 128]);
    const saved = await Promise.all([
      store.save(text("é\n")),
      store.save({ source: "file:///a/b.pdf", mimeType: "application/pdf", content: bytes }),
    ]);
    const [first = "", second = ""] = saved.map(pathOf);
    const [folder = "", ...more] = readdirSync(parent);
    expect(more).toEqual([]);
    expect([first, second]).toEqual([join(parent, folder, "1-tool.txt"), join(parent, folder, "2-b.pdf")]);
    expect(readFileSync(first, "utf8")).toBe("é\n");
    expect(new Uint8Array(readFileSync(second))).toEqual(bytes);
    expect([first, second, dirname(first)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o700]);
  });

  it("[E178] keeps names that collide apart, and all of them inside its folder", async () => {
    const store = createSpillStore({ parent });
    const sources = ["x", "X", "../x", "a/x", "..", "/", "x\0", `${"é".repeat(300)}`, "CON"];
    const paths = (await Promise.all(sources.map((source) => store.save(text(source, source))))).map(pathOf);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(sources.length);
    expect(new Set(paths.map(dirname)).size).toBe(1);
    expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(sources);
    expect(readdirSync(parent)).toHaveLength(1);
  });

  it("keeps no more bytes than a session may, and says so", async () => {
    const store = createSpillStore({ parent, maxBytes: 2 * MIB });
    await store.save(text("x".repeat(MIB)));
    expect(await store.save(text("é".repeat(MIB)))).toEqual({ reason: "this session's files would exceed 2 MB" });
    pathOf(await store.save(text("x".repeat(MIB))));
    expect(await store.save(text("x"))).toEqual({ reason: "this session's files would exceed 2 MB" });
  });

  it("keeps no more files than a session may, and says so", async () => {
    const store = createSpillStore({ parent, maxFiles: 2 });
    const saved = await Promise.all(["a", "b", "c"].map((content) => store.save(text(content))));
    expect(saved[2]).toEqual({ reason: "this session has kept 2 files, its limit" });
    expect(readdirSync(dirname(pathOf(saved[0] as Spilled)))).toHaveLength(2);
  });

  it("makes a new folder when the system has cleaned the old one away", async () => {
    const store = createSpillStore({ parent });
    const first = pathOf(await store.save(text("1")));
    rmSync(dirname(first), { recursive: true });
    const second = pathOf(await store.save(text("2")));
    expect(dirname(second)).not.toBe(dirname(first));
    expect(readFileSync(second, "utf8")).toBe("2");
  });

  it("says why a file could not be written, does not count it, and goes on when it can be", async () => {
    const folder = join(parent, "later");
    const store = createSpillStore({ parent: folder, maxFiles: 1 });
    const refused = { reason: "the file could not be written (ENOENT)" };
    expect(await store.save(text("1"))).toEqual(refused);
    expect(await store.save(text("2"))).toEqual(refused);
    mkdirSync(folder);
    expect(readFileSync(pathOf(await store.save(text("3"))), "utf8")).toBe("3");
  });

  it("removes its files at the end, also those that are being written and those of a folder before, and keeps none after", async () => {
    const store = createSpillStore({ parent });
    rmSync(dirname(pathOf(await store.save(text("1")))), { recursive: true });
    await store.save(text("2"));
    const late = store.save(text("x".repeat(MIB)));
    await store.end("remove");
    expect(readdirSync(parent)).toEqual([]);
    expect(await late).toMatchObject({ path: expect.any(String) });
    expect(await store.save(text("3"))).toEqual({ reason: "the session has ended" });
    await store.end("remove");
    expect(readdirSync(parent)).toEqual([]);
    await createSpillStore({ parent: join(parent, "none") }).end("remove");
  });

  it("leaves its files where they are to stay", async () => {
    const store = createSpillStore({ parent });
    const path = pathOf(await store.save(text("1")));
    await store.end("keep");
    expect(readFileSync(path, "utf8")).toBe("1");
  });

  it("leaves files of earlier sessions for a week and then removes them", async () => {
    const ages = { "pi-mcp-results-old": 8, "pi-mcp-results-new": 6, "pi-mcp-other": 80, "pi-mcp-results-file": 8 };
    for (const [name, days] of Object.entries(ages)) {
      const path = join(parent, name);
      if (name.endsWith("file")) writeFileSync(path, "x");
      else {
        mkdirSync(path);
        writeFileSync(join(path, "1-a.txt"), "x");
      }
      const then = new Date(Date.now() - days * DAY_MS);
      utimesSync(path, then, then);
    }
    const own = dirname(pathOf(await createSpillStore({ parent }).save(text("x"))));
    const kept = ["pi-mcp-other", "pi-mcp-results-new"].map((name) => join(parent, name));
    expect(
      readdirSync(parent)
        .map((name) => join(parent, name))
        .sort(),
    ).toEqual([...kept, own].sort());
  });
});
