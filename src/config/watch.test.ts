import { EventEmitter } from "node:events";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MCP_JSON, removeHomes, SETTINGS, testHome, USER_MCP_JSON } from "./config.fixture.ts";
import { editConfig } from "./edit.ts";
import { FileMemory } from "./file-memory.ts";
import { loadConfig } from "./load.ts";
import { allowProject } from "./trust-decisions.ts";
import { type ConfigWatch, type WatchOptions, watchConfig } from "./watch.ts";

const open: ConfigWatch[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const each of open.splice(0)) each.close();
  removeHomes();
});

const server = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: "x" }])),
});

/** A home whose configuration is watched: `told` holds the names of the servers after each change that was told. */
function watched(prepare: (home: ReturnType<typeof testHome>) => void = () => {}, options: Partial<WatchOptions> = {}) {
  const home = testHome();
  const cwd = join(home.home, "project");
  for (const folder of [cwd, join(home.home, ".pi/agent")]) mkdirSync(folder, { recursive: true });
  prepare(home);
  const memory = new FileMemory();
  const user = { env: {}, home: home.home };
  const load = () => loadConfig({ ...user, cwd }, memory);
  load();
  const told: string[][] = [];
  const failures: string[][] = [];
  const start = () => {
    const watching = watchConfig(memory, {
      changed: () => void told.push(load().servers.map(({ name }) => name)),
      failed: (...failure) => void failures.push(failure),
      restMs: 0,
      ...options,
    });
    open.push(watching);
    return watching;
  };
  const looks = vi.spyOn(memory, "isStale");
  return {
    ...home,
    user,
    memory,
    load,
    told,
    failures,
    start,
    path: (file: string) => join(home.home, file),
    /** Waits until the change with this number was told. */
    until: (count: number) => eventually(() => told.length >= count),
    /** Waits until the files have been looked at once more. */
    untilLook: () => {
      const before = looks.mock.calls.length;
      return eventually(() => looks.mock.calls.length > before);
    },
  };
}

/** As editors and `editConfig` do it: a new file takes the place of the old one. */
function replace(file: string, content: object): void {
  writeFileSync(`${file}.new`, JSON.stringify(content));
  renameSync(`${file}.new`, file);
}

describe("watchConfig", () => {
  it("[E029] 50 touches in a second, the same bytes written anew and a lock beside the file are no change", async () => {
    const { write, start, told, until, untilLook, path } = watched(({ write }) => write(MCP_JSON, server("a")));
    start();
    const looked = untilLook();
    for (let i = 0; i < 50; i++) {
      if (i % 2 === 0) utimesSync(path(MCP_JSON), i, i);
      else write(MCP_JSON, server("a"));
      mkdirSync(path(`${MCP_JSON}.lock`));
      rmSync(path(`${MCP_JSON}.lock`), { recursive: true });
      await sleep(20);
    }
    await looked;
    expect(told).toEqual([]);
    write(MCP_JSON, server("b"));
    await until(1);
    expect(told).toEqual([["b"]]);
  });

  it("[E029] 50 changes in a second are one, and a file that never rests is read every other second", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const listeners: ((kind: string, name: string) => void)[] = [];
    const fake = (_path: string, _options: object, listener: (kind: string, name: string) => void) => {
      listeners.push(listener);
      return Object.assign(new EventEmitter(), { close() {} });
    };
    const { write, start, told } = watched(undefined, { watch: fake as unknown as typeof watch, restMs: 1_000 });
    start();
    let written = 0;
    const change = async (times: number) => {
      for (let i = 0; i < times; i++) {
        write(MCP_JSON, server(`s${++written}`));
        for (const listener of listeners) listener("change", "mcp.json");
        await vi.advanceTimersByTimeAsync(20);
      }
    };
    await change(50);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(told).toEqual([["s50"]]);
    await change(500);
    expect(told.length - 1).toBeGreaterThanOrEqual(3);
    expect(told.length - 1).toBeLessThanOrEqual(5);
    // A program that makes a change and then a pause again and again is told of once a second.
    await vi.advanceTimersByTimeAsync(5_000);
    const before = told.length;
    for (let i = 0; i < 20; i++) {
      await change(1);
      await vi.advanceTimersByTimeAsync(280);
    }
    expect(told.length - before).toBeGreaterThanOrEqual(3);
    expect(told.length - before).toBeLessThanOrEqual(6);
  });

  it("sees a file that is written, replaced by another, edited, deleted, and there again", async () => {
    const { write, start, told, until, path } = watched(({ write }) => write(SETTINGS, server("s")));
    start();
    write(SETTINGS, server("t"));
    await until(1);
    replace(path(SETTINGS), server("u"));
    await until(2);
    await editConfig(path(SETTINGS), [{ kind: "put", name: "v", entry: { command: "x" }, replace: false }]);
    await until(3);
    rmSync(path(SETTINGS));
    await until(4);
    write(SETTINGS, server("w"));
    await until(5);
    expect(told).toEqual([["t"], ["u"], ["u", "v"], [], ["w"]]);
  });

  it("sees a file that was not there, and one whose folders were not", async () => {
    const { write, start, told, until } = watched();
    start();
    write(MCP_JSON, server("a"));
    await until(1);
    // Neither `.config` nor `mcp` in it.
    write(USER_MCP_JSON, server("b"));
    await until(2);
    // Now each of them is watched itself.
    write(USER_MCP_JSON, server("c"));
    await until(3);
    expect(told).toEqual([["a"], ["a", "b"], ["a", "c"]]);
  });

  it("sees a folder that is moved away, deleted, and made anew", async () => {
    const { write, start, told, until, path } = watched(({ write }) => write(USER_MCP_JSON, server("a")));
    start();
    renameSync(path(".config/mcp"), path(".config/old"));
    await until(1);
    write(USER_MCP_JSON, server("b"));
    await until(2);
    rmSync(path(".config"), { recursive: true });
    await until(3);
    write(USER_MCP_JSON, server("c"));
    await until(4);
    expect(told).toEqual([[], ["b"], [], ["c"]]);
  });

  it("sees what changes at the end of a symbolic link, and a link that leads elsewhere", async () => {
    const { write, start, told, until, path } = watched(({ write, home }) => {
      write("dotfiles/a.json", server("a"));
      write("other/b.json", server("b"));
      symlinkSync(join(home, "dotfiles/a.json"), join(home, MCP_JSON));
    });
    start();
    write("dotfiles/a.json", server("c"));
    await until(1);
    symlinkSync(path("other/b.json"), path(`${MCP_JSON}.new`));
    renameSync(path(`${MCP_JSON}.new`), path(MCP_JSON));
    await until(2);
    replace(path("other/b.json"), server("d"));
    await until(3);
    expect(told).toEqual([["c"], ["b"], ["d"]]);
  });

  it("sees a folder that is a link and is made to lead elsewhere", async () => {
    const { write, start, told, until, path } = watched(({ write, home }) => {
      write("profiles/work/mcp.json", server("work"));
      write("profiles/home/mcp.json", server("home"));
      rmSync(join(home, ".pi"), { recursive: true });
      mkdirSync(join(home, ".pi"));
      symlinkSync(join(home, "profiles/work"), join(home, ".pi/agent"));
    });
    start();
    symlinkSync(path("profiles/home"), path(".pi/new"));
    renameSync(path(".pi/new"), path(".pi/agent"));
    await until(1);
    write("profiles/home/mcp.json", server("changed"));
    await until(2);
    expect(told).toEqual([["home"], ["changed"]]);
  });

  it("places that are no good are no harm: links in a loop, a folder where a file is meant, no home at all", async () => {
    const { write, start, told, until, path, user, load, failures } = watched(({ write, home }) => {
      symlinkSync(join(home, MCP_JSON), join(home, `${MCP_JSON}.2`));
      symlinkSync(join(home, `${MCP_JSON}.2`), join(home, MCP_JSON));
      mkdirSync(join(home, SETTINGS));
      write(".config/mcp", "a file");
    });
    start();
    rmSync(path(MCP_JSON));
    write(MCP_JSON, server("a"));
    await until(1);
    rmSync(path(SETTINGS), { recursive: true });
    write(SETTINGS, server("s"));
    await until(2);
    rmSync(path(".config/mcp"));
    write(USER_MCP_JSON, server("u"));
    await until(3);
    expect(told).toEqual([["a"], ["a", "s"], ["a", "s", "u"]]);
    expect(load().problems).toEqual([]);
    const memory = new FileMemory();
    loadConfig({ ...user, home: "/nowhere/at/all", cwd: "/nowhere/either" }, memory);
    open.push(watchConfig(memory, { changed: () => {}, failed: (...failure) => void failures.push(failure) }));
    expect(failures).toEqual([]);
  });

  it("a file that is broken and then mended is told twice, and its servers stay meanwhile", async () => {
    const { write, start, told, until, load } = watched(({ write }) => write(MCP_JSON, server("a", "b")));
    start();
    write(MCP_JSON, '{"mcpServers": {"a": {"comm');
    await until(1);
    expect(load().problems).toHaveLength(1);
    write(MCP_JSON, server("b"));
    await until(2);
    expect(told).toEqual([["a", "b"], ["b"]]);
    expect(load().problems).toEqual([]);
  });

  it("sees a project's file, what a person decides about it, and that it is taken back", async () => {
    const { write, start, told, until, load, user, path } = watched();
    start();
    write("project/.pi/mcp.json", server("theirs"));
    await until(1);
    for (const file of load().untrusted ?? []) allowProject(user, file);
    await until(2);
    rmSync(path(".pi/agent/mcp-trust.json"));
    await until(3);
    expect(told).toEqual([[], ["theirs"], []]);
  });

  it("a change between the reading and the start of the watch is told", async () => {
    const { write, start, told, until } = watched();
    write(MCP_JSON, server("a"));
    start();
    await until(1);
    expect(told).toEqual([["a"]]);
  });

  it("tells one change at a time, and a change meanwhile afterwards", async () => {
    const running: (() => void)[] = [];
    let ended = 0;
    const { write, start, load } = watched(undefined, {
      changed: async () => {
        load();
        await new Promise<void>((resolve) => running.push(resolve));
        ended++;
      },
    });
    start();
    write(MCP_JSON, server("a"));
    await eventually(() => running.length === 1);
    write(MCP_JSON, server("b"));
    // Another watch of the same kind sees the same change: the moment to be told has passed.
    await seenElsewhere();
    expect(running).toHaveLength(1);
    running[0]?.();
    await eventually(() => running.length === 2);
    expect(ended).toBe(1);
    running[1]?.();
  });

  it("ends when the one who is told throws", async () => {
    const changed = vi.fn(() => {
      throw new Error("gone");
    });
    const { write, start } = watched(undefined, { changed });
    start();
    write(MCP_JSON, server("a"));
    await eventually(() => changed.mock.calls.length === 1);
    write(MCP_JSON, server("b"));
    await seenElsewhere();
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it("tells nothing once it is closed", async () => {
    const { write, start, told } = watched();
    const watching = start();
    write(MCP_JSON, server("a"));
    watching.close();
    watching.close();
    write(MCP_JSON, server("b"));
    await seenElsewhere();
    expect(told).toEqual([]);
  });

  it.each(["ENOSPC", "EMFILE"])(
    "a folder that cannot be watched (%s) is told once and costs no other",
    async (code) => {
      const failing = (path: unknown, ...rest: never[]) => {
        if (String(path).endsWith("agent")) throw Object.assign(new Error(code), { code });
        return (watch as (...all: unknown[]) => unknown)(path, ...rest);
      };
      const { write, start, told, failures, until, untilLook, path } = watched(undefined, {
        watch: failing as typeof watch,
      });
      start();
      write(MCP_JSON, server("a"));
      write(USER_MCP_JSON, server("b"));
      await until(1);
      await untilLook();
      expect(told).toEqual([["a", "b"]]);
      expect(failures).toEqual([[path(".pi/agent"), code]]);
    },
  );

  it("a watch that the system has given up is made anew with the next look", async () => {
    const watchers = new Map<string, ReturnType<typeof watch>>();
    const noting = (path: string, ...rest: unknown[]) => {
      const watcher = (watch as (...all: unknown[]) => ReturnType<typeof watch>)(path, ...rest);
      watchers.set(path, watcher);
      return watcher;
    };
    const { write, start, until, told, failures, path } = watched(({ write }) => write(USER_MCP_JSON, {}), {
      watch: noting as typeof watch,
    });
    start();
    watchers.get(path(".pi/agent"))?.emit("error", Object.assign(new Error("EIO"), { code: "EIO" }));
    expect(failures).toEqual([[path(".pi/agent"), "EIO"]]);
    write(USER_MCP_JSON, server("a"));
    await until(1);
    write(MCP_JSON, server("b"));
    await until(2);
    expect(told).toEqual([["a"], ["a", "b"]]);
  });
});

/** Waits as long as another watch needs to tell a change that is made now, and longer. */
async function seenElsewhere(): Promise<void> {
  const other = watched();
  other.start();
  for (let count = 1; count <= 2; count++) {
    other.write(MCP_JSON, server(`s${count}`));
    await other.until(count);
  }
}

function eventually(isSo: () => boolean): Promise<unknown> {
  return vi.waitUntil(isSo, { timeout: 15_000, interval: 10 });
}
