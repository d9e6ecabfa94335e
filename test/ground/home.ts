import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProcessInfo } from "./processes.ts";
import { MARKER, survivors, waitUntilGone } from "./processes.ts";
import type { ScriptedModel } from "./scripted-model.ts";
import { PREFIX, watchForStrays } from "./stray.ts";

/** An object is written as JSON, a text as it is. */
export type FileContent = string | object;

export interface HomeFiles {
  /** `settings.json`, `mcp.json` and `models.json` of the agent's folder. */
  settings?: FileContent;
  mcp?: FileContent;
  models?: FileContent;
  /** By place: `~/…` in HOME, `agent/…` in the agent's folder, `project/…` in the working directory. */
  files?: Readonly<Record<string, FileContent>>;
  /** The model pi talks to: writes `models.json`. */
  model?: ScriptedModel;
  /** Added to the environment of everything that is started in this home. */
  env?: Readonly<Record<string, string>>;
}

/** A person's computer in small: everything a run reads or writes lies in one folder that goes away with it. */
export interface Home {
  readonly root: string;
  /** HOME. */
  readonly home: string;
  /** PI_CODING_AGENT_DIR. */
  readonly agentDir: string;
  /** The project folder pi works in. */
  readonly cwd: string;
  /** TMPDIR. */
  readonly tmp: string;
  /** The value of the marker variable; see `processes.ts`. */
  readonly marker: string;
  /** A path below the root, for the ground's own files. */
  path(name: string): string;
  write(files: HomeFiles): void;
  /** A whole environment: nothing of the test's own is inherited. */
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
  /** The living processes that belong to this home. */
  survivors(): ProcessInfo[];
  /** Files of pi or of an MCP client that have appeared outside since this home was made; see `stray.ts`. */
  strayFiles(): string[];
  /**
   * Deletes the folder. Rejects when something is left that a run should have cleaned up: a process that is still there
   * after `patienceMs` (default 5 s; it is ended first), or a file outside.
   */
  remove(patienceMs?: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function temporaryHome(files: HomeFiles = {}): Promise<Home> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), PREFIX)));
  const home = join(root, "home");
  const agentDir = join(home, ".pi", "agent");
  const cwd = join(root, "project");
  const tmp = join(root, "tmp");
  const run = join(root, "run");
  for (const folder of [agentDir, cwd, tmp, run]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const marker = randomUUID();
  const strayFiles = watchForStrays();
  let added: Record<string, string> = {};
  /** Where nothing listens: what tries to leave this computer by way of a proxy variable fails at once. */
  let proxy = "http://127.0.0.1:9";

  const place = (name: string): string => {
    const [start, ...rest] = name.split("/");
    const base = { "~": home, agent: agentDir, project: cwd }[start ?? ""];
    if (base === undefined) throw new Error(`"${name}" starts with none of ~/, agent/ and project/.`);
    return join(base, ...rest);
  };
  const put = (name: string, content: FileContent | undefined): void => {
    if (content === undefined) return;
    mkdirSync(dirname(place(name)), { recursive: true });
    writeFileSync(place(name), typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
  };
  const write = ({ settings, mcp, models, files = {}, model, env = {} }: HomeFiles): void => {
    put("agent/settings.json", settings);
    put("agent/mcp.json", mcp);
    put("agent/models.json", models ?? model?.models());
    for (const [name, content] of Object.entries(files)) put(name, content);
    added = { ...added, ...env };
    proxy = model?.origin ?? proxy;
  };
  const mine = (): ProcessInfo[] => survivors(marker, root);

  const remove = async (patienceMs?: number): Promise<void> => {
    const left = await waitUntilGone(mine, patienceMs);
    for (const { pid } of left) endProcess(pid);
    await waitUntilGone(mine);
    const stray = strayFiles();
    rmSync(root, { recursive: true, force: true });
    if (left.length > 0)
      throw new Error(`Left running: ${left.map(({ pid, command }) => `${pid} ${command}`).join("; ")}`);
    if (stray.length > 0) throw new Error(`Written outside the temporary home: ${stray.join(", ")}`);
  };

  write(files);
  return Promise.resolve({
    root,
    home,
    agentDir,
    cwd,
    tmp,
    marker,
    path: (name) => join(root, name),
    write,
    env: (more) => ({
      PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
      HOME: home,
      USER: "somebody",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "dumb",
      NO_COLOR: "1",
      TMPDIR: tmp,
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_CACHE_HOME: join(home, ".cache"),
      XDG_DATA_HOME: join(home, ".local", "share"),
      XDG_STATE_HOME: join(home, ".local", "state"),
      XDG_RUNTIME_DIR: run,
      PI_CODING_AGENT_DIR: agentDir,
      PI_OFFLINE: "1",
      PI_SKIP_VERSION_CHECK: "1",
      PI_TELEMETRY: "0",
      npm_config_offline: "true",
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: "127.0.0.1,localhost",
      NODE_USE_ENV_PROXY: "1",
      [MARKER]: marker,
      ...added,
      ...more,
    }),
    survivors: mine,
    strayFiles,
    remove,
    [Symbol.asyncDispose]: () => remove(),
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
