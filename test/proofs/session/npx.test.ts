import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { displayServer } from "../../../src/config/display.ts";
import { type Home, temporaryHome } from "../../ground/home.ts";
import { type FakeNpx, fakeNpx } from "../../ground/npx.ts";
import { until } from "../../ground/wait.ts";
import { mcp, sessionOf } from "../../session/open.ts";

const call = { action: "call", server: "fake", tool: "echo" };
const HOUR_MS = 60 * 60 * 1000;

/** One session with one call to a server that is run with these words. */
async function use(home: Home, words: readonly string[], more: object = {}): Promise<string> {
  const [command, ...args] = words;
  home.write({ mcp: { mcpServers: { fake: { command, args, ...more } } } });
  await using session = sessionOf(home);
  return (await mcp(session, call)).text;
}

function parentOf(pid: number | undefined): number {
  return Number(spawnSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim());
}

/** Writes what was found some time ago. */
function keepEntry(npx: FakeNpx, words: readonly string[], file: string, version: string, ageHours: number): void {
  const resolvedAt = Date.now() - ageHours * HOUR_MS;
  const entry = { resolvedBin: file, resolvedAt, packageVersion: version, isJs: true };
  writeFileSync(npx.keptFile, JSON.stringify({ version: 1, entries: { [JSON.stringify(words)]: entry } }));
}

test("[S3-02] a server of npx is the program npm has installed, with no npm above it, and is shown as it is configured", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  const { file } = npx.install("some-server", "1.0.0");
  home.write({ mcp: { mcpServers: { fake: { command: "npx", args: ["-y", "some-server", "a b"] } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
  const { pid } = session.status("fake");
  expect(npx.server.starts()).toEqual([pid]);
  expect(parentOf(pid)).toBe(process.pid);
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)).toEqual(["node", file, "a b"]);
  expect(npx.ran()).toEqual([]);
  expect((await mcp(session, { action: "list_servers" })).text).toContain("npx -y some-server");
  expect(session.servers.map(displayServer)[0]).toContain("npx -y some-server");
  // Programs beside it are within its reach, as npx has it.
  expect(npx.server.launches()[0]?.env.PATH).toMatch(new RegExp(`^${npx.folder}/[0-9a-f]{16}/node_modules/\\.bin:`));
});

test("[S3-02] a package in npm's cache is found in a folder of any name, and so is a scoped one", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("@scope/some-server", "2.0.0", { spec: null, folder: "by-hand" });
  await use(home, ["npx", "-y", "@scope/some-server"]);
  expect([npx.versions(), npx.ran()]).toEqual([["2.0.0"], []]);
});

test("[S3-03] `npm exec` is looked through like npx", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("@scope/tools", "1.0.0", { bin: { "run-it": "cli.mjs", other: "other.mjs" } });
  await use(home, ["npm", "exec", "--yes", "--package=@scope/tools", "--", "run-it", "--option=value", "x"]);
  await use(home, ["npm", "exec", "-y", "--package", "@scope/tools", "--", "run-it"]);
  npx.install("plain", "1.0.0");
  await use(home, ["npm", "exec", "plain", "--", "--mine"]);
  expect(npx.server.launches().map(({ args }) => args)).toEqual([["--option=value", "x"], [], ["--mine"]]);
  expect(npx.ran()).toEqual([]);
});

test("[S3-04] flags are understood, and what stands behind the package or `--` reaches the server", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("some-server", "1.0.0");
  const lines = [
    ["npx", "-y", "some-server", "--", "--option=value"],
    ["npx", "--yes", "--quiet", "some-server", "-y", "a;b", "*"],
    ["npx", "-y", "--package=some-server", "some-server", "a"],
    ["npx", "-y", "-p", "some-server", "some-server", "-p", "b"],
    ["npx", "--", "some-server", "c"],
  ];
  for (const line of lines) await use(home, line);
  expect(npx.server.launches().map(({ args }) => args)).toEqual([
    ["--", "--option=value"],
    ["-y", "a;b", "*"],
    ["a"],
    ["-p", "b"],
    ["c"],
  ]);
  expect(npx.ran()).toEqual([]);
});

test("[S3-05] what was found is kept, without the server's own arguments, and beside what others keep", async () => {
  await using home = await temporaryHome({ env: { TOKEN: "secret-0123456789" } });
  const npx = await fakeNpx(home);
  const { file } = npx.install("some-server", "1.0.0");
  const entries = { other: { resolvedBin: "/x", resolvedAt: Date.now(), packageVersion: "1.0.0", isJs: true } };
  writeFileSync(npx.keptFile, JSON.stringify({ version: 1, entries }));
  await use(home, ["npx", "-y", "some-server", "--key", "${TOKEN}"]);
  expect(npx.kept()).toEqual({
    version: 1,
    entries: {
      ...entries,
      '["npx","-y","some-server"]': {
        resolvedBin: file,
        resolvedAt: expect.any(Number),
        packageVersion: "1.0.0",
        isJs: true,
      },
    },
  });
  expect(readFileSync(npx.keptFile, "utf8")).not.toContain("secret");
  expect(readdirSync(home.agentDir).sort()).toEqual(["mcp-catalog", "mcp-npx-cache.json", "mcp.json"]);
});

describe("[S3-06] what was found is good for 24 hours", () => {
  const words = ["npx", "-y", "some-server@latest"];

  test("after 23 the kept program is run", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 500 });
    npx.publish("some-server@latest", "1.0.0");
    keepEntry(npx, words, file, "1.0.0", 23);
    await use(home, words);
    expect(npx.versions()).toEqual(["1.0.0"]);
    expect(npx.ran().filter(([name]) => name === "npx")).toEqual([]);
  });

  test("after 25 npx is asked, and what it ran is run without it from then on", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 500 });
    npx.publish("some-server@latest", "1.1.0");
    keepEntry(npx, words, file, "1.0.0", 25);
    await use(home, words);
    await use(home, words);
    expect(npx.versions()).toEqual(["1.1.0", "1.1.0"]);
    expect(npx.ran()).toEqual([words]);
  });

  test("a newer package that somebody has installed meanwhile is found again without npx", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest" });
    keepEntry(npx, words, file, "1.0.0", 25);
    npx.install("some-server", "1.2.0", { spec: "some-server@latest" });
    await use(home, words);
    expect([npx.versions(), npx.ran()]).toEqual([["1.2.0"], []]);
    expect(Object.values(npx.kept().entries)[0]).toMatchObject({ packageVersion: "1.2.0" });
  });

  test("a package of which nothing is known but that it is old is left to npx", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 25 });
    npx.publish("some-server@latest", "2.0.0");
    await use(home, words);
    expect([npx.versions(), npx.ran()]).toEqual([["2.0.0"], [words]]);
  });

  test("a time in the future counts for nothing", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 500 });
    npx.publish("some-server@latest", "2.0.0");
    keepEntry(npx, words, file, "1.0.0", -300);
    await use(home, words);
    expect(npx.versions()).toEqual(["2.0.0"]);
  });
});

describe("[S3-07] what cannot be resolved runs as it was written", () => {
  test("a package that is not installed, and one that does not exist", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.publish("some-server@latest", "1.0.0");
    const first = await use(home, ["npx", "-y", "some-server", "x"]);
    const unknown = await use(home, ["npx", "-y", "no-such-server", "x"]);
    expect(first).toContain("(no arguments)");
    expect(unknown).toContain("npm error code E404");
    expect(npx.ran().slice(0, 2)).toEqual([
      ["npx", "-y", "some-server", "x"],
      ["npx", "-y", "no-such-server", "x"],
    ]);
    // What npx has installed is known from then on.
    await use(home, ["npx", "-y", "some-server", "y"]);
    expect(npx.server.launches().map(({ args }) => args)).toEqual([["x"], ["y"]]);
    expect(npx.ran().filter((line) => line.includes("y"))).toEqual([]);
  });

  test("options, ranges, several packages, addresses and folders are npx's own business", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0");
    const lines = [
      ["npx", "--no-install", "some-server"],
      ["npx", "-c", "some-server"],
      ["npx", "-p", "some-server", "-p", "other", "some-server"],
      ["npx", "some-server@^1"],
      ["npx", "some-server@1"],
      ["npx", "some-server@x"],
      ["npx", "github:owner/some-server"],
      ["npx", "./some-server"],
      ["npx", "some-server@npm:other@1.0.0"],
      ["npx"],
      ["npm", "run", "some-server"],
      ["npm", "exec", "some-server", "--verbose"],
    ];
    for (const line of lines) await use(home, line, { protocolVersion: "2025-06-18" });
    expect(npx.ran()).toEqual(lines);
  });

  test("npx as a setting has it, unless the entry says otherwise", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0");
    npx.publish("some-server@latest", "1.0.0");
    const entry = { name: "fake", command: "npx", args: ["-y", "some-server"] };
    for (const more of [{}, { resolveNpx: true }]) {
      home.write({ settings: { mcpServers: [{ ...entry, ...more }] } });
      await using session = sessionOf(home);
      await mcp(session, call);
    }
    expect(npx.ran()).toEqual([["npx", "-y", "some-server"]]);
    home.write({ settings: {} });
    await use(home, ["npx", "-y", "some-server"], { resolveNpx: false });
    expect(npx.ran()).toHaveLength(2);
  });
});

describe("no other version is run than the one that is asked for", () => {
  test("a version is that version, wherever it lies and however old it is", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "2.0.0");
    npx.install("some-server", "1.0.0", { spec: "some-server@1.0.0", ageHours: 9_999 });
    npx.install("some-server", "3.0.0", { spec: "some-server@^3", ageHours: 9_999 });
    npx.publish("some-server@4.0.0", "4.0.0");
    for (const version of ["1.0.0", "2.0.0", "3.0.0", "4.0.0"])
      await use(home, ["npx", "-y", `some-server@${version}`]);
    expect(npx.versions()).toEqual(["1.0.0", "2.0.0", "3.0.0", "4.0.0"]);
    expect(npx.ran()).toEqual([["npx", "-y", "some-server@4.0.0"]]);
  });

  test("a tag is what npx has installed for that tag", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0");
    npx.install("some-server", "2.0.0-beta.1", { spec: "some-server@beta" });
    npx.publish("some-server@next", "3.0.0-next.0");
    for (const tag of ["beta", "latest", "next"]) await use(home, ["npx", "-y", `some-server@${tag}`]);
    expect(npx.versions()).toEqual(["2.0.0-beta.1", "1.0.0", "3.0.0-next.0"]);
    expect(npx.ran()).toEqual([["npx", "-y", "some-server@next"]]);
  });

  test("what lies there for another package, or under another's name, is not it", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const { folder } = npx.install("other", "9.0.0");
    const needed = join(folder, "node_modules", "some-server");
    mkdirSync(needed);
    writeFileSync(join(needed, "package.json"), JSON.stringify({ name: "some-server", version: "0.1.0", bin: "c.js" }));
    const alias = npx.install("alias-of", "1.0.0");
    writeFileSync(
      join(alias.folder, "node_modules", "alias-of", "package.json"),
      JSON.stringify({ name: "real", version: "1.0.0", bin: "cli.mjs" }),
    );
    for (const spec of ["some-server", "some-server@latest", "some-server@0.1.0", "alias-of"]) {
      await use(home, ["npx", "-y", spec], { protocolVersion: "2025-06-18" });
    }
    expect(npx.ran()).toHaveLength(4);
  });

  test("a kept entry of another version, file or folder is not believed", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    const old = npx.install("some-server", "1.0.0", { spec: "some-server@1.0.0" });
    const words = ["npx", "-y", "some-server"];
    npx.publish("some-server@latest", "2.0.0");
    for (const file of [old.file, join(home.home, "evil.js"), join(npx.folder, "..", "x.js"), npx.folder]) {
      keepEntry(npx, words, file, "1.0.0", 1);
      await use(home, words);
    }
    expect(new Set(npx.versions())).toEqual(new Set(["2.0.0"]));
  });

  test("what the project or the computer has itself is run by npx, and a project's own registry is asked by it", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0");
    npx.publish("some-server@latest", "1.0.0");
    const words = ["npx", "-y", "some-server"];
    const places: [string, string, string][] = [
      ["project/node_modules/some-server/package.json", "{}", "a package of the project"],
      ["project/.npmrc", "registry=https://registry.example/\n", "another registry"],
      ["project/package.json", '{"name":"some-server","bin":"x.js"}', "the project itself"],
      ["~/npm-global/bin/some-server", "", "the computer"],
    ];
    for (const [index, [place, text]] of places.entries()) {
      await using other = await temporaryHome({ files: { [place]: text, "~/.npmrc": "prefix=~/npm-global\n" } });
      const fake = await fakeNpx(other);
      fake.install("some-server", "1.0.0");
      fake.publish("some-server@latest", "1.0.0");
      await use(other, words);
      expect([index, fake.ran()]).toEqual([index, [words]]);
    }
    await use(home, words);
    expect(npx.ran()).toEqual([]);
  });
});

describe("what a tag means is asked again while the server runs", () => {
  const words = ["npx", "-y", "some-server@latest"];
  const view = ["npm", "view", "some-server@latest", "version", "--json"];

  async function start(home: Home, npx: FakeNpx) {
    home.write({ mcp: { mcpServers: { fake: { command: "npx", args: words.slice(1) } } } });
    const session = sessionOf(home);
    expect((await mcp(session, call)).isError).toBe(false);
    return { session, entry: () => npx.kept().entries[JSON.stringify(words)] };
  }

  test("the same version is good for another day; what the project says to npm is not obeyed", async () => {
    const npmrc = "https-proxy=http://127.0.0.1:9\n//registry.example/:_authToken=${SOME_SECRET}\n";
    await using home = await temporaryHome({ files: { "project/.npmrc": npmrc, "project/package.json": "{}" } });
    const npx = await fakeNpx(home);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 500 });
    npx.publish("some-server@latest", "1.0.0");
    keepEntry(npx, words, file, "1.0.0", 20);
    const { session, entry } = await start(home, npx);
    await until("a new date", () => ((entry()?.resolvedAt ?? 0) > Date.now() - HOUR_MS ? true : undefined));
    await session.close();
    expect(npx.ran()).toEqual([view]);
  });

  test("a newer one is left to npx at the next start", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 2 });
    npx.publish("some-server@latest", "1.5.0");
    const { session, entry } = await start(home, npx);
    await until("the news", () => (entry()?.resolvedAt === 0 ? true : undefined));
    await session.close();
    await use(home, words);
    await use(home, words);
    expect(npx.versions()).toEqual(["1.0.0", "1.5.0", "1.5.0"]);
    expect(npx.ran()).toEqual([view, words]);
  });

  test("not within the hour, and no answer changes nothing", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0", { spec: "some-server@latest" });
    await (await start(home, npx)).session.close();
    expect(npx.ran()).toEqual([]);
    const { file } = npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 500 });
    keepEntry(npx, words, file, "1.0.0", 5);
    const { session, entry } = await start(home, npx);
    const before = entry();
    await until("the question", () => (npx.ran().length > 0 ? true : undefined));
    await session.close();
    expect(entry()).toEqual(before);
  });

  test("the question ends with the session", async () => {
    await using home = await temporaryHome();
    const npx = await fakeNpx(home);
    npx.install("some-server", "1.0.0", { spec: "some-server@latest", ageHours: 3 });
    npx.publish("delay", "60000");
    npx.publish("some-server@latest", "1.5.0");
    const { session } = await start(home, npx);
    await until("the question", () => (npx.ran().length > 0 ? true : undefined));
    expect(home.survivors()).toHaveLength(2);
    await session.close();
    expect(home.survivors()).toEqual([]);
  });
});

test("a file of another version of this cache is neither read nor touched, and a damaged one is replaced", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("some-server", "1.0.0");
  const foreign = '{"version":2,"entries":{"x":{"resolvedBin":"/y"}},"more":1}';
  writeFileSync(npx.keptFile, foreign);
  await use(home, ["npx", "-y", "some-server"]);
  expect(readFileSync(npx.keptFile, "utf8")).toBe(foreign);
  for (const damaged of [
    "",
    "{",
    "[]",
    "null",
    "\0\u0001",
    '{"version":1,"entries":[]}',
    '{"version":1,"entries":{"a":5}}',
  ]) {
    writeFileSync(npx.keptFile, damaged);
    await use(home, ["npx", "-y", "some-server"]);
    expect(Object.keys(npx.kept().entries)).toEqual(['["npx","-y","some-server"]']);
  }
  expect(npx.ran()).toEqual([]);
});

test("many servers at once keep what they found, each of them", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  const names = Array.from({ length: 8 }, (_, n) => `server-${n}`);
  for (const name of names) npx.install(name, "1.0.0");
  const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "npx", args: ["-y", name] }]));
  home.write({ mcp: { mcpServers } });
  const sessions = [sessionOf(home), sessionOf(home)];
  await Promise.all(sessions.flatMap((session) => names.map((server) => mcp(session, { ...call, server }))));
  await Promise.all(sessions.map((session) => session.close()));
  expect(Object.keys(npx.kept().entries).sort()).toEqual(names.map((name) => `["npx","-y","${name}"]`));
  expect(npx.server.starts()).toHaveLength(16);
});

test("a whole path to npx means the Node beside it, where there is one", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("some-server", "1.0.0");
  npx.publish("some-server@latest", "1.0.0");
  await use(home, [join(npx.bin, "npx"), "-y", "some-server"]);
  expect(npx.ran()).toEqual([["npx", "-y", "some-server"]]);
  symlinkSync(process.execPath, join(npx.bin, "node"));
  await use(home, [join(npx.bin, "npx"), "-y", "some-server"]);
  expect(npx.ran()).toHaveLength(1);
});

test("npm's cache is where npm's own configuration says", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  const words = ["npx", "-y", "some-server"];
  npx.publish("some-server@latest", "0.0.1");
  const elsewhere = (folder: string, version: string) => {
    const place = join(folder, "_npx", "made-by-hand", "node_modules", "some-server");
    const { file } = npx.install("some-server", version, { spec: null, folder: "scratch" });
    mkdirSync(place, { recursive: true });
    for (const name of ["package.json", "cli.mjs"]) copyFileSync(join(dirname(file), name), join(place, name));
    chmodSync(join(place, "cli.mjs"), 0o755);
  };
  elsewhere(home.path("by-variable"), "1.1.1");
  elsewhere(home.path("by-file"), "2.2.2");
  npx.install("other", "0.0.0", { spec: null, folder: "scratch" });
  await use(home, words, { env: { NPM_CONFIG_CACHE: home.path("by-variable") } });
  home.write({ files: { "~/.npmrc": `; a remark\ncache = ${home.path("by-file")}\n` } });
  await use(home, words);
  expect([npx.versions(), npx.ran()]).toEqual([["1.1.1", "2.2.2"], []]);
});

test("programs that are no JavaScript run by themselves, and those without a right to run are npx's business", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  const { command, args } = npx.server;
  const text = `#!/bin/sh\nexec ${command} ${args.join(" ")} "$@"\n`;
  const { file } = npx.install("native", "1.0.0", { text });
  await use(home, ["npx", "-y", "native", "a b"]);
  expect(npx.server.launches().map(({ args }) => args)).toEqual([["a b"]]);
  expect(npx.ran()).toEqual([]);
  chmodSync(file, 0o644);
  await use(home, ["npx", "-y", "native"], { protocolVersion: "2025-06-18" });
  expect(npx.ran()).toEqual([["npx", "-y", "native"]]);
});

test("a package npx is just installing, one that is damaged and one that leads out of its folder are npx's business", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  const busy = npx.install("busy", "1.0.0");
  mkdirSync(join(busy.folder, "concurrency.lock"));
  const damaged = npx.install("damaged", "1.0.0");
  writeFileSync(join(damaged.folder, "node_modules", "damaged", "package.json"), "{");
  npx.install("outside", "1.0.0", { bin: "../../../../../../../bin/echo" });
  npx.install("missing", "1.0.0", { bin: "not-there.js" });
  npx.install("several", "1.0.0", { bin: { a: "cli.mjs", b: "other.mjs" } });
  const names = ["busy", "damaged", "outside", "missing", "several"];
  for (const name of names) await use(home, ["npx", "-y", name], { protocolVersion: "2025-06-18" });
  expect(npx.ran().map((line) => line.at(-1))).toEqual(names);
});

test("a project that has pipes where files should be holds up nothing", async () => {
  await using home = await temporaryHome();
  const npx = await fakeNpx(home);
  npx.install("some-server", "1.0.0");
  for (const name of [".npmrc", "package.json"]) spawnSync("/usr/bin/env", ["mkfifo", join(home.cwd, name)]);
  spawnSync("/usr/bin/env", ["mkfifo", npx.keptFile]);
  expect(await use(home, ["npx", "-y", "some-server"])).toContain("(no arguments)");
  expect(npx.ran()).toEqual([]);
});
