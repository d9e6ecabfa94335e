import { symlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { removeHomes, testHome } from "./config.fixture.ts";
import { describeUntrustedFile } from "./consent.ts";
import { FileMemory } from "./file-memory.ts";
import { loadConfig } from "./load.ts";
import { agentDir, configPaths } from "./paths.ts";
import { allowProject } from "./trust-decisions.ts";

afterEach(removeHomes);

const servers = (mcpServers: object) => JSON.stringify({ mcpServers });

function project() {
  const home = testHome();
  const load = (cwd = "project") => loadConfig({ env: {}, home: home.home, cwd: join(home.home, cwd) });
  const allow = (cwd?: string) => {
    for (const file of load(cwd).untrusted ?? []) allowProject({ env: {}, home: home.home }, file);
  };
  return { ...home, load, allow };
}

describe("E239: a consent is for what was shown", () => {
  it("though a file below was denied: an entry changes the person's own and no other project file's", () => {
    const { write, load, home } = project();
    write(".pi/agent/mcp.json", servers({ x: { command: "own", args: ["a"] } }));
    write("project/.mcp.json", servers({ x: { command: "echo" } }));
    write("project/.pi/mcp.json", servers({ x: { args: ["evil"] } }));
    const [lower, upper] = load().untrusted ?? [];
    if (lower === undefined || upper === undefined) throw new Error("not two files");
    expect(describeUntrustedFile(upper)).toContain("runs own evil\n");
    allowProject({ env: {}, home }, lower, "deny");
    allowProject({ env: {}, home }, upper);
    expect(load().servers[0]?.target).toMatchObject({ command: "own", args: ["evil"] });
  });

  it("though a file below has another content now, which was allowed too", () => {
    const { write, load, allow } = project();
    write("project/.mcp.json", servers({ x: { command: "echo", args: ["hi"] } }));
    write("project/.pi/mcp.json", servers({ x: { args: ["-c", "evil"] } }));
    const [, upper] = load().untrusted ?? [];
    expect(upper && describeUntrustedFile(upper)).toContain(
      "x (takes the place of a server of this name): cannot be used",
    );
    allow();
    write("project/.mcp.json", servers({ x: { command: "sh", args: ["build.sh"] } }));
    allow();
    expect(load().servers).toEqual([]);
  });

  it("in that project: a link to a file that was allowed elsewhere is asked about", () => {
    const { write, load, allow, home } = project();
    write("good/.mcp.json", servers({ s: { command: "node", args: ["server.js"] } }));
    allow("good");
    expect(load("good").servers).toHaveLength(1);
    write("evil/server.js", "");
    symlinkSync("../good/.mcp.json", join(home, "evil/.mcp.json"));
    expect(load("evil")).toMatchObject({ servers: [], untrusted: [{ state: "waiting" }] });
  });

  it("and shows nothing secret that the person's own entry holds", () => {
    const { write, load } = project();
    const env = { API_KEY: "sesame", DB: "postgres://u:sesame@h/db" };
    write(
      ".pi/agent/mcp.json",
      servers({
        x: { command: "true", args: ["--token", "sesame"], env },
        w: { url: "https://u:sesame@h/", headers: env },
      }),
    );
    write("project/.mcp.json", servers({ x: { timeout: 5 }, w: { timeout: 5 } }));
    const [file] = load().untrusted ?? [];
    if (file === undefined) throw new Error("no file");
    expect(file.servers.map(({ effect }) => effect)).toEqual(["changes", "changes"]);
    expect(describeUntrustedFile(file) + JSON.stringify(file)).not.toContain("sesame");
  });
});

// Only Linux has such files.
it("a file that says it is empty and never ends is not read to its end", { skip: process.platform !== "linux" }, () => {
  const { write, load, home } = project();
  write("project/README", "");
  symlinkSync("/proc/self/pagemap", join(home, "project/.mcp.json"));
  expect(load().problems).toMatchObject([{ message: "This file is larger than 1 MiB, so it was not read." }]);
});

it("a stranger's file that is larger than anybody reads is not used, and is no change when it stays so", () => {
  const { write, home } = project();
  const memory = new FileMemory();
  const load = () => loadConfig({ env: {}, home, cwd: join(home, "project") }, memory);
  write("project/.mcp.json", `${servers({ x: { command: "x" } })}${" ".repeat(1024 * 1024)}`);
  expect(load()).toMatchObject({ servers: [], problems: [{ message: expect.stringContaining("larger than 1 MiB") }] });
  expect([load().untrusted, memory.isStale()]).toEqual([undefined, false]);
  const many = Object.fromEntries(Array.from({ length: 301 }, (_, n) => [`s${n}`, { command: "x" }]));
  write("project/.mcp.json", servers(many));
  expect(memory.isStale()).toBe(true);
  expect(load().problems).toMatchObject([{ message: "This file has more than 300 servers, so none of them is used." }]);
  expect(load().untrusted).toBeUndefined();
});

it("a home that is empty or relative makes no file of the current folder the person's own", () => {
  for (const home of ["", "."]) {
    const paths = configPaths({ env: {}, home });
    const byTilde = agentDir({ env: { PI_CODING_AGENT_DIR: "~/a" }, home });
    expect(byTilde).toBe(join(userInfo().homedir, "a"));
    expect([agentDir({ env: {}, home }), ...paths.mcpJson].every(isAbsolute)).toBe(true);
  }
});
