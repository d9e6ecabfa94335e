import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { removeHomes, testHome } from "./config.fixture.ts";
import { editConfig } from "./edit.ts";
import type { EntryEdit } from "./edit-entries.ts";

afterEach(removeHomes);

const NEW = { kind: "put", name: "new", entry: { command: "npx", args: ["-y", "x"] }, replace: false } as const;

async function edited(text: string, ...edits: EntryEdit[]): Promise<string> {
  const file = testHome().write("mcp.json", text);
  await editConfig(file, edits);
  return readFileSync(file, "utf8");
}

/** The lines that went and came, in order, as `diff` shows them. */
function changes(before: string, after: string): string[] {
  const old = before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  return [
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
  ];
}

const COMMENTED = `// my servers
{
    "$schema": "https://example.com/schema.json", // for the editor
    "mcpServers": {
        /* the first */
        "a": { "command": "a", "args": [ "1",2 ] }, // keep me
        // about b
        "b": {
            "command": "b", // b's command
            "disabled": false
        } // the last one
        // "old": { "command": "old" }
    },
    "settings": {"x":[1,2,   3]}
}
`;

describe("an edit changes the intended lines and no other", () => {
  it("adds behind the last one", async () => {
    expect(changes(COMMENTED, await edited(COMMENTED, NEW))).toEqual([
      "-        } // the last one",
      "+        }, // the last one",
      '+        "new": {',
      '+            "command": "npx",',
      '+            "args": ["-y", "x"]',
      "+        }",
    ]);
  });

  it("removes the last one and the comma before it", async () => {
    expect(changes(COMMENTED, await edited(COMMENTED, { kind: "remove", name: "b" }))).toEqual([
      '-        "a": { "command": "a", "args": [ "1",2 ] }, // keep me',
      "-        // about b",
      '-        "b": {',
      `-            "command": "b", // b's command`,
      '-            "disabled": false',
      "-        } // the last one",
      '+        "a": { "command": "a", "args": [ "1",2 ] } // keep me',
      "+        // about b",
    ]);
  });

  it("removes the first one", async () => {
    expect(changes(COMMENTED, await edited(COMMENTED, { kind: "remove", name: "a" }))).toEqual([
      '-        "a": { "command": "a", "args": [ "1",2 ] }, // keep me',
    ]);
  });

  it("disables and enables", async () => {
    const off = await edited(COMMENTED, { kind: "switch", name: "b", on: false });
    expect(changes(COMMENTED, off)).toEqual(['-            "disabled": false', '+            "disabled": true']);
    expect(await edited(off, { kind: "switch", name: "b", on: true })).toBe(COMMENTED);
    expect(changes(COMMENTED, await edited(COMMENTED, { kind: "switch", name: "a", on: false }))).toEqual([
      '-        "a": { "command": "a", "args": [ "1",2 ] }, // keep me',
      '+        "a": { "command": "a", "args": [ "1",2 ], "disabled": true }, // keep me',
    ]);
    expect(await edited(COMMENTED, { kind: "switch", name: "b", on: true })).toBe(COMMENTED);
  });

  it("replaces one", async () => {
    expect(changes(COMMENTED, await edited(COMMENTED, { ...NEW, name: "a", replace: true }))).toEqual([
      '-        "a": { "command": "a", "args": [ "1",2 ] }, // keep me',
      '+        "a": {',
      '+            "command": "npx",',
      '+            "args": ["-y", "x"]',
      "+        }, // keep me",
    ]);
  });

  it("keeps line ends, marks, tabs, and commas behind the last one", async () => {
    const text = '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t},\r\n}\r\n';
    const added = '\t\t"new": {\r\n\t\t\t"command": "npx",\r\n\t\t\t"args": ["-y", "x"]\r\n\t\t},\r\n';
    expect(await edited(text, NEW)).toBe(text.replace("\t},", `${added}\t},`));
    expect(await edited(await edited(text, NEW), { kind: "remove", name: "new" })).toBe(text);
  });

  it("keeps UTF-16", async () => {
    const file = testHome().write("mcp.json", Buffer.from('\ufeff{"mcpServers": {"ä": {}}}', "utf16le"));
    await editConfig(file, [{ kind: "switch", name: "ä", on: false }]);
    expect(readFileSync(file).toString("utf16le")).toMatch(
      /^\ufeff\{"mcpServers": \{"ä": \{\s*"disabled": true\s*\}\}\}$/,
    );
  });
});

const one = '{\n  "mcpServers": {\n    "new": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    }\n  }\n}\n';

describe("adding", () => {
  it.each([
    ["", one],
    [" \n", one],
    ["// mine\n", `// mine\n${one}`],
    ["{}", one.trim()],
    ['{\n  "mcpServers": {}\n}\n', one],
    [
      '{"mcpServers":{"a":{"url":"u"}}}',
      '{"mcpServers":{"a":{"url":"u"}, "new": { "command": "npx", "args": ["-y", "x"] }}}',
    ],
    ['{"mcpServers":{"a":{},}}', '{"mcpServers":{"a":{}, "new": { "command": "npx", "args": ["-y", "x"] },}}'],
    ['{\n  "mcpServers": {\n    // none\n  }\n}\n', one.replace("{\n    ", "{\n    // none\n    ")],
    ['{\n  "x": 1\n}\n', one.replace("{\n", '{\n  "x": 1,\n')],
    [
      '{\n "mcpServers": [\n  {"name": "a"}\n ]\n}',
      '{\n "mcpServers": [\n  {"name": "a"},\n  {\n   "name": "new",\n   "command": "npx",\n   "args": ["-y", "x"]\n  }\n ]\n}',
    ],
  ])("to %j", async (before, after) => {
    expect(await edited(before, NEW)).toBe(after);
  });

  it("makes the file and its folders, for their owner alone", async () => {
    const file = join(testHome().home, "a", "b", "mcp.json");
    const result = await editConfig(file, [NEW]);
    expect(readFileSync(file, "utf8")).toBe(one);
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(result).toEqual({
      file,
      isChanged: true,
      servers: [{ name: "new", position: { file, line: 3, column: 5 } }],
    });
    expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
  });

  it("refuses a name that is taken, and does all edits or none", async () => {
    const file = testHome().write("mcp.json", COMMENTED);
    const edits = [NEW, { ...NEW, name: "a" }];
    await expect(editConfig(file, edits)).rejects.toMatchObject({
      reason: "exists",
      message: `${file}:6:9 has a server "a" already.`,
    });
    expect(readFileSync(file, "utf8")).toBe(COMMENTED);
  });

  it("writes values as given", async () => {
    const entry = { command: "x", env: { A: "${HOME}", 'q"': "$B\n" } };
    expect(JSON.parse(await edited("", { ...NEW, entry }))).toEqual({ mcpServers: { new: entry } });
  });
});

describe("removing and switching", () => {
  it("removes every entry of a name", async () => {
    const text = '{"mcpServers": {"a": {"command": "1"}, "b": {}, " a": {"command": "2"}}}';
    expect(await edited(text, { kind: "remove", name: "a" })).toBe('{"mcpServers": {"b": {}}}');
  });

  it("removes the only one", async () => {
    expect(await edited(one, { kind: "remove", name: "new" })).toBe('{\n  "mcpServers": {\n  }\n}\n');
    expect(await edited('{"mcpServers": {"a": {}, }}', { kind: "remove", name: "a" })).toBe('{"mcpServers": {}}');
  });

  it("knows both words and the array", async () => {
    const off = (text: string) => edited(text, { kind: "switch", name: "a", on: false });
    const on = (text: string) => edited(text, { kind: "switch", name: "a", on: true });
    expect(await off('{"mcpServers": {"a": {"enabled": true}}}')).toBe('{"mcpServers": {"a": {"enabled": false}}}');
    expect(await on('{"mcpServers": {"a": {"enabled": false, "disabled": true}}}')).toBe(
      '{"mcpServers": {"a": {"enabled": true, "disabled": false}}}',
    );
    const two = '{"mcpServers": [{"name": "a", "disabled": true}, {"name": "a", "enabled": true}]}';
    const none = await off(two);
    expect(none).toBe(two.replace('"enabled": true', '"enabled": false'));
    await expect(on(none)).rejects.toMatchObject({ reason: "broken" });
  });

  it("says when there is no such server", async () => {
    const { home } = testHome();
    const file = join(home, "none", "mcp.json");
    for (const kind of ["remove", "switch"] as const) {
      const edit = kind === "remove" ? { kind, name: "a" } : { kind, name: "a", on: true };
      await expect(editConfig(file, [edit])).rejects.toMatchObject({
        reason: "missing",
        message: `${file} has no server "a".`,
      });
    }
    expect(existsSync(dirname(file))).toBe(false);
  });
});

describe("a file that must not be written", () => {
  it.each([
    ['{"mcpServers": {\n  "a": {"command": "x"}\n  "b": {}}}', /mcp\.json:3:3: error: .*a comma is missing/],
    ["[]", /mcp\.json:1:1: it must hold an object/],
    ['{"mcpServers": "x"}', /mcp\.json:1:16: "mcpServers" must be/],
    ["\u0000", /mcp\.json:1:1: error/],
  ])("%j is left as it is", async (text, message) => {
    const file = testHome().write("mcp.json", text);
    await expect(editConfig(file, [NEW])).rejects.toMatchObject({
      reason: "broken",
      message: expect.stringMatching(message),
    });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
  });

  it("is one that is read-only, for the superuser too", async () => {
    const file = testHome().write("mcp.json", "{}");
    chmodSync(file, 0o400);
    await expect(editConfig(file, [NEW])).rejects.toMatchObject({
      message: expect.stringContaining(`${file} is read-only`),
    });
    expect(readFileSync(file, "utf8")).toBe("{}");
  });

  it("is one that is no file, or lies below one", async () => {
    const { home, write } = testHome();
    const below = join(write("plain", "text"), "sub", "mcp.json");
    await expect(editConfig(below, [NEW])).rejects.toMatchObject({ message: expect.stringContaining(below) });
    mkdirSync(join(home, "mcp.json"));
    await expect(editConfig(join(home, "mcp.json"), [NEW])).rejects.toMatchObject({
      message: expect.stringContaining("not a regular file"),
    });
  });
});

describe("writing", () => {
  it("keeps the mode and follows links, also to what is not there yet", async () => {
    const { home, write } = testHome();
    const real = write("real/mcp.json", "{}");
    chmodSync(real, 0o640);
    symlinkSync("real/mcp.json", join(home, "link.json"));
    symlinkSync("real/new.json", join(home, "new.json"));
    expect((await editConfig(join(home, "link.json"), [NEW])).file).toBe(real);
    await editConfig(join(home, "new.json"), [NEW]);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readdirSync(home).sort()).toEqual(["link.json", "new.json", "real"]);
    expect(readdirSync(join(home, "real")).sort()).toEqual(["mcp.json", "new.json"]);
    expect(JSON.parse(readFileSync(real, "utf8"))).toHaveProperty("mcpServers.new");
  });

  it("takes over the lock of one that was killed, and clears what it left", async () => {
    const { home, write } = testHome();
    const file = write("mcp.json", "{}");
    const old = new Date(Date.now() - 60_000);
    mkdirSync(`${file}.lock`);
    write(".mcp.json.x.pi-mcp.tmp", "{");
    write(".mcp.json.young.pi-mcp.tmp", "{");
    utimesSync(`${file}.lock`, old, old);
    utimesSync(join(home, ".mcp.json.x.pi-mcp.tmp"), old, old);
    await editConfig(file, [NEW]);
    expect(readdirSync(home).sort()).toEqual([".mcp.json.young.pi-mcp.tmp", "mcp.json"]);
  });

  it("waits for a lock that is held, until nobody waits for it", async () => {
    const file = testHome().write("mcp.json", COMMENTED);
    // Its time lies ahead, so it does not become stale here.
    const ahead = new Date(Date.now() + 3_600_000);
    mkdirSync(`${file}.lock`);
    utimesSync(`${file}.lock`, ahead, ahead);
    const interrupt = new AbortController();
    const waiting = editConfig(file, [NEW], interrupt.signal);
    const patient = editConfig(file, [NEW]);
    interrupt.abort();
    await expect(waiting).rejects.toMatchObject({ reason: "cancelled" });
    expect(readFileSync(file, "utf8")).toBe(COMMENTED);
    rmdirSync(`${file}.lock`);
    expect(await patient).toMatchObject({ isChanged: true });
  });

  it("does not write when nothing changes", async () => {
    const file = testHome().write("mcp.json", COMMENTED);
    const { ino } = statSync(file);
    expect(await editConfig(file, [{ kind: "switch", name: "a", on: true }])).toMatchObject({ isChanged: false });
    expect(statSync(file).ino).toBe(ino);
  });

  it("lets twenty at once have their turns", async () => {
    const file = join(testHome().home, "mcp.json");
    await Promise.all(Array.from({ length: 20 }, (_, index) => editConfig(file, [{ ...NEW, name: `s${index}` }])));
    const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object };
    expect(Object.keys(mcpServers)).toHaveLength(20);
  });
});
