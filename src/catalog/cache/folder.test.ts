import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { catalogueFolder } from "./folder.ts";
import { decodeCatalogue, decodeHead, encodeCatalogue, type KeptCatalogue, MAX_FILE_BYTES } from "./record.ts";

const CATALOGUE: KeptCatalogue = {
  server: { name: "files", version: "1", title: "Files", instructions: "Ask first." },
  tools: [
    { name: "read", description: "Reads.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  ],
  complete: true,
  era: { is: "legacy", askedAt: 5 },
  listedAt: 7,
};

const PROMPTS = { items: [{ name: "greet" }], complete: true };
const FULL: KeptCatalogue = {
  ...CATALOGUE,
  offers: ["resources", "prompts"],
  lists: {
    prompts: PROMPTS,
    resources: { items: [{ uri: "a:1" }], complete: false },
    resourceTemplates: { items: [], complete: true },
  },
};

const DAY_MS = 24 * 3_600_000;

let home: string;
let place: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "catalogue-"));
  place = join(home, "agent", "mcp-catalog");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const files = () => readdirSync(place).filter((name) => name.endsWith(".json"));
const onlyFile = () => join(place, files()[0] ?? "");

describe("a folder of catalogues", () => {
  it("gives back what was kept, also to another process, and nothing for another configuration", () => {
    catalogueFolder(place).keep("a", CATALOGUE);
    expect(catalogueFolder(place).read("a")).toEqual(CATALOGUE);
    expect(catalogueFolder(place).read("b")).toBeUndefined();
  });

  it("gives the beginning of a file alone, which the start of an agent needs, and only of what is a file", () => {
    const folder = catalogueFolder(place);
    expect(folder.readHead("a")).toBeUndefined();
    folder.keep("a", CATALOGUE);
    expect(folder.readHead("a")).toEqual({});
    folder.keep("a", FULL);
    expect(folder.read("a")).toEqual(FULL);
    expect(folder.readHead("a")).toEqual({ offers: ["resources", "prompts"], prompts: PROMPTS });
    const long = { items: Array.from({ length: 1_000 }, (_, at) => ({ name: `é${at}` })), complete: true };
    folder.keep("a", { ...FULL, lists: { prompts: long } });
    expect(folder.readHead("a")?.prompts).toEqual(long);
    for (const content of ["", "\n", '{"version":1,"tools":[\n', '{"version":9,"offers":[],"tools":[\n]}\n']) {
      writeFileSync(onlyFile(), content);
      expect(folder.readHead("a") ?? {}).toEqual({});
    }
    const file = onlyFile();
    rmSync(file);
    mkdirSync(file);
    expect(folder.readHead("a")).toBeUndefined();
  });

  it("is its owner's alone, and holds nothing but whole files and the key", () => {
    const folder = catalogueFolder(place);
    folder.keep("a", CATALOGUE);
    folder.keep("a", { ...CATALOGUE, complete: false });
    expect(readdirSync(place).sort()).toEqual([files()[0], "key"].sort());
    expect([place, onlyFile(), join(place, "key")].map((file) => statSync(file).mode & 0o777)).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect(folder.read("a")?.complete).toBe(false);
  });

  it("names files so that nobody without the key can tell of what: two homes have two names for one configuration", () => {
    catalogueFolder(place).keep("a", CATALOGUE);
    const other = join(home, "other");
    catalogueFolder(other).keep("a", CATALOGUE);
    expect(files()).toHaveLength(1);
    expect(readdirSync(other)).not.toContain(files()[0]);
  });

  it("makes nothing before something is kept", () => {
    expect(catalogueFolder(place).read("a")).toBeUndefined();
    expect(existsSync(place)).toBe(false);
  });

  it("takes the key of whoever was first, and makes another in place of a damaged one", () => {
    const [one, two] = [catalogueFolder(place), catalogueFolder(place)];
    one.keep("a", CATALOGUE);
    two.keep("a", CATALOGUE);
    expect(files()).toHaveLength(1);
    writeFileSync(join(place, "key"), "short");
    const three = catalogueFolder(place);
    expect(three.read("a")).toBeUndefined();
    three.keep("a", CATALOGUE);
    expect(three.read("a")).toEqual(CATALOGUE);
    expect(statSync(join(place, "key")).size).toBe(32);
  });

  it("is read where it cannot be written, and costs nothing but itself where there is no place for it", () => {
    catalogueFolder(place).keep("a", CATALOGUE);
    chmodSync(place, 0o500);
    const folder = catalogueFolder(place);
    expect(folder.read("a")).toEqual(CATALOGUE);
    folder.keep("b", CATALOGUE);
    chmodSync(place, 0o700);
    writeFileSync(join(home, "file"), "");
    const nowhere = catalogueFolder(join(home, "file", "below"));
    nowhere.keep("a", CATALOGUE);
    expect(nowhere.read("a")).toBeUndefined();
  });

  it("removes what is too old, too many or too much, the longest unused first, and nobody else's files", () => {
    const names = ["a", "b", "c", "d"];
    for (const [at, name] of names.entries()) {
      const before = new Set(existsSync(place) ? files() : []);
      catalogueFolder(place).keep(name, CATALOGUE);
      const file = files().find((each) => !before.has(each)) ?? "";
      const time = (Date.now() - (at + 1) * DAY_MS) / 1_000;
      utimesSync(join(place, file), time, time);
    }
    writeFileSync(join(place, "notes.txt"), "mine");
    const left = join(place, ".00000000-0000-0000-0000-000000000000.tmp");
    writeFileSync(left, "{");
    utimesSync(left, 1, 1);
    const remaining = () => names.filter((name) => catalogueFolder(place).read(name) !== undefined);
    const limits = { maxFiles: 400, maxBytes: 1e9, maxAgeMs: 60 * DAY_MS };
    catalogueFolder(place, { ...limits, maxAgeMs: 3.5 * DAY_MS }).keep("new", CATALOGUE);
    expect(readdirSync(place)).toHaveLength(6);
    expect(remaining()).toEqual(["a", "b", "c"]);
    expect(existsSync(left)).toBe(false);
    catalogueFolder(place, { ...limits, maxFiles: 3 }).keep("new", CATALOGUE);
    expect(files()).toHaveLength(3);
    catalogueFolder(place, { ...limits, maxBytes: 1 }).keep("new", CATALOGUE);
    expect(files()).toEqual([]);
    expect(readFileSync(join(place, "notes.txt"), "utf8")).toBe("mine");
  });

  it("reading keeps a file from growing old", () => {
    catalogueFolder(place).keep("a", CATALOGUE);
    utimesSync(onlyFile(), 1, 1);
    catalogueFolder(place).read("a");
    expect(Date.now() - statSync(onlyFile()).mtimeMs).toBeLessThan(DAY_MS);
  });

  it("follows no link, waits at no pipe and reads nothing huge", () => {
    const folder = catalogueFolder(place);
    folder.keep("a", CATALOGUE);
    const file = onlyFile();
    const text = readFileSync(file);
    rmSync(file);
    writeFileSync(join(home, "elsewhere"), text);
    symlinkSync(join(home, "elsewhere"), file);
    expect(folder.read("a")).toBeUndefined();
    folder.keep("a", CATALOGUE);
    expect(lstatSync(file).isSymbolicLink()).toBe(false);
    rmSync(file);
    mkdirSync(file);
    expect(folder.read("a")).toBeUndefined();
    folder.keep("a", CATALOGUE);
    rmSync(file, { recursive: true });
    writeFileSync(file, `${text}${" ".repeat(MAX_FILE_BYTES)}`);
    expect(folder.read("a")).toBeUndefined();
  });

  it("takes whatever a damaged file holds for nothing, or for a catalogue that is one", () => {
    const folder = catalogueFolder(place);
    folder.keep("a", FULL);
    const file = onlyFile();
    const text = readFileSync(file);
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    let damaged = 0;
    for (let round = 0; round < 500; round++) {
      const bytes = Buffer.from(text.subarray(0, round % 3 === 0 ? random(text.length) : text.length));
      for (let change = 0; change < 1 + random(4) && bytes.length > 0; change++)
        bytes[random(bytes.length)] = random(256);
      writeFileSync(file, bytes);
      const read = folder.read("a");
      if (read === undefined) damaged++;
      else expect(decodeCatalogue(encodeCatalogue(read))).toEqual(read);
    }
    expect(damaged).toBeGreaterThan(100);
    for (const content of ["", "null", "[]", "{}", '{"version":1}', "[".repeat(100_000)]) {
      writeFileSync(file, content);
      expect(folder.read("a")).toBeUndefined();
    }
  });
});

describe("the text of a catalogue", () => {
  it("is bounded: what has no room is left out, and the list then counts as not complete", () => {
    const tools = Array.from({ length: 100 }, (_, at) => ({ name: `t${at}`, description: "é".repeat(100_000) }));
    const server = { name: "s".repeat(1e6), version: "1", instructions: "\u0000".repeat(1e6) };
    const text = encodeCatalogue({ ...CATALOGUE, server, tools });
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_FILE_BYTES);
    const read = decodeCatalogue(text);
    expect(read?.tools.length).toBeGreaterThan(10);
    expect(read?.complete).toBe(false);
  });

  it("has less room for the other lists than for tools, and what is left out of one is said of that one", () => {
    const items = Array.from({ length: 5_000 }, (_, at) => ({ uri: `x:${at}`, description: "é".repeat(1_000) }));
    const lists = { prompts: { items, complete: true }, resources: { items, complete: true } };
    const text = encodeCatalogue({ ...FULL, lists });
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_FILE_BYTES);
    const read = decodeCatalogue(text);
    expect(read).toMatchObject({ tools: CATALOGUE.tools, complete: true });
    expect([read?.lists?.prompts?.complete, read?.lists?.resources?.complete]).toEqual([false, false]);
    expect(read?.lists?.prompts?.items.length).toBeGreaterThan(50);
    expect(read?.lists?.resources?.items.length).toBeGreaterThan(1_000);
    expect(decodeHead(text)?.prompts).toEqual(read?.lists?.prompts);
    const tools = Array.from({ length: 1_000 }, (_, at) => ({ name: `t${at}`, description: "x".repeat(4_000) }));
    const crowded = decodeCatalogue(encodeCatalogue({ ...FULL, tools }));
    expect(crowded?.lists?.prompts).toEqual(PROMPTS);
  });

  it("holds members of any name", () => {
    const tools = [JSON.parse('{"name": "t", "inputSchema": {"properties": {"__proto__": {"type": "string"}}}}')];
    const read = decodeCatalogue(encodeCatalogue({ ...CATALOGUE, tools }));
    expect(JSON.stringify(read?.tools)).toBe(JSON.stringify(tools));
    expect(decodeCatalogue(encodeCatalogue({ ...CATALOGUE, tools: [] }))?.tools).toEqual([]);
  });
});
