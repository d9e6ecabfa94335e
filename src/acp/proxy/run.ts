import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { PERMISSION_VARIABLE } from "../../config/permission.ts";
import type { PermissionMode } from "../../config/record.ts";
import { endTree, spawnTree } from "../../transport/process-tree.ts";
import { CHANNEL_VARIABLES } from "../channel.ts";
import { ProxyDoor } from "./door.ts";
import { FOLDER_PREFIX, removeLeftFolders } from "./left-folders.ts";
import { AcpProxy } from "./proxy.ts";
import { pump } from "./pump.ts";
import { PI_COMMAND_VARIABLE, writeShim } from "./shim.ts";

/** How long an agent may take to end after its editor has gone, before it is ended. */
const GRACE = { exitMs: 3_000, termMs: 2_000 };

/** A socket's path may be no longer than about 100 bytes, which a deep TMPDIR is. */
const MAX_FOLDER_CHARS = 80;

export interface ProxyOptions {
  /** The agent: a program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** What the person is asked about before a server is used; absent: as it is configured. */
  readonly permission?: PermissionMode | undefined;
  /** The extension to be loaded into pi, and which pi; absent: pi has it installed. */
  readonly shim?: { readonly pi: string; readonly extension: string };
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly signal?: AbortSignal;
}

/**
 * Runs the agent behind the proxy until either side ends, and ends what is left of it. Returns the agent's exit code; rejects
 * when the agent cannot be started.
 */
export async function runProxy(options: ProxyOptions): Promise<number> {
  const place = shortFolder(options.env);
  await removeLeftFolders(place);
  const folder = mkdtempSync(join(place, FOLDER_PREFIX));
  const door = new ProxyDoor();
  try {
    return await runAgent(options, folder, door);
  } finally {
    door.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runAgent(options: ProxyOptions, folder: string, door: ProxyDoor): Promise<number> {
  const { command, cwd, stdin, stdout, stderr, signal } = options;
  const address = await door.listen(folder);
  const [program, ...args] = command;
  const child = spawnTree({ command: program, args, cwd, env: envOf(options, folder, address) });
  const { stdin: toAgent, stdout: fromAgent } = child;
  const failure = (code = "no reason given") => new Error(`the agent \`${program}\` could not be started (${code})`);
  if (!toAgent || !fromAgent) throw failure();
  child.stderr?.pipe(stderr, { end: false });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", ({ code }: NodeJS.ErrnoException) => reject(failure(code)));
  });
  failed.catch(() => {});
  for (const stream of [toAgent, stdout]) stream.on("error", () => {});

  const proxy = new AcpProxy({
    toAgent: (line) => writeLine(toAgent, line),
    toEditor: (line) => writeLine(stdout, line),
    listed: (session) => door.listed(session),
    command: (session, text, signal) => door.command(session, text, signal),
  });
  door.serve(proxy);

  const stop = () => void endTree(child, GRACE);
  // Whoever gave up while the door was opened gets no second word.
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  // What the agent still has to say is read to its end, if that comes.
  const leave = async () => {
    toAgent.end();
    await Promise.race([exited, pause(GRACE.exitMs)]);
    // The time for that is over.
    await endTree(child, { ...GRACE, exitMs: 0 });
  };
  pump(stdin, toAgent, (line) => proxy.fromEditor(line)).then(leave, leave);
  try {
    await Promise.race([pump(fromAgent, stdout, (line) => proxy.fromAgent(line)), failed]).catch((error) => {
      // An agent that had to be ended did not close its output itself.
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    });
    return (await Promise.race([exited, failed])) ?? 1;
  } finally {
    signal?.removeEventListener("abort", stop);
    stdin.destroy();
    await endTree(child, GRACE);
  }
}

function envOf(
  { env, shim, permission }: ProxyOptions,
  folder: string,
  { socket, token }: { readonly socket: string; readonly token: string },
): NodeJS.ProcessEnv {
  return {
    ...env,
    [CHANNEL_VARIABLES.socket]: socket,
    [CHANNEL_VARIABLES.token]: token,
    ...(permission !== undefined && { [PERMISSION_VARIABLE]: permission }),
    ...(shim && { [PI_COMMAND_VARIABLE]: writeShim(folder, shim.pi, shim.extension) }),
  };
}

function writeLine(stream: Writable, line: Buffer | string): void {
  if (stream.destroyed || stream.writableEnded) return;
  stream.write(line);
  stream.write("\n");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

function shortFolder(env: NodeJS.ProcessEnv): string {
  const folders = [env.XDG_RUNTIME_DIR, env.TMPDIR, tmpdir()];
  const short = folders.find((folder) => folder !== undefined && folder !== "" && folder.length <= MAX_FOLDER_CHARS);
  return short ?? "/tmp";
}
