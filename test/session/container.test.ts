import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type FakeStdio, fakeStdio } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "./open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

interface Engine {
  readonly server: FakeStdio;
  readonly command: string;
  /** Its command lines, in order. */
  ran(): string[];
  /** Where an engine has written which container it runs. */
  idFile(): string;
}

/** A program that behaves like an engine's client: the container runs beside it and is known by its id. */
async function fakeEngine(home: Home, name = "docker"): Promise<Engine> {
  const server = await fakeStdio(home);
  const log = home.path("engine.log");
  writeFileSync(log, "");
  const text = `#!/bin/sh
echo "$@" >> ${log}
for arg; do case "$arg" in
  --cidfile=*) echo abc123 > "\${arg#--cidfile=}"; exec ${server.command} ${server.args.join(" ")};;
esac; done
case "$*" in *run*) exec ${server.command} ${server.args.join(" ")};; esac
`;
  home.write({ files: { [`~/bin/${name}`]: text } });
  const command = join(home.home, "bin", name);
  chmodSync(command, 0o755);
  const ran = () => readFileSync(log, "utf8").trim().split("\n");
  return { server, command, ran, idFile: () => /--cidfile=(\S+)/.exec(ran().join("\n"))?.[1] ?? "" };
}

async function use(home: Home, command: string, args: readonly string[], more: object = {}): Promise<void> {
  home.write({ mcp: { mcpServers: { fake: { command, args, ...more } } } });
  await using session = sessionOf(home);
  expect((await mcp(session, call)).isError).toBe(false);
}

const shown = (lines: readonly string[]) => lines.map((line) => line.replace(/--cidfile=\S+/, "--cidfile=…"));
const idFiles = (home: Home) => readdirSync(home.tmp).filter((name) => name.endsWith(".cid"));

test("[E025] the engine is found behind its own options, and asked with them to end what it ran", async () => {
  await using home = await temporaryHome();
  const { command, ran } = await fakeEngine(home);
  await use(home, command, ["--context", "far", "--tls", "container", "run", "-i", "--rm", "image"]);
  expect(shown(ran())).toEqual([
    "--context far --tls container run --cidfile=… -i --rm image",
    "--context far --tls rm --force abc123",
  ]);
  expect(idFiles(home)).toEqual([]);
});

test("[E025] a container that is not to be removed is stopped and stays for its logs", async () => {
  await using home = await temporaryHome();
  const { command, ran } = await fakeEngine(home, "podman");
  await use(home, command, ["run", "-i", "image"]);
  expect(shown(ran())).toEqual(["run --cidfile=… -i image", "stop -t 1 abc123"]);
});

test("[E025] other commands of an engine are left as they are, and so is one that writes a file of its own", async () => {
  await using home = await temporaryHome();
  const { command, ran } = await fakeEngine(home);
  const lines = [
    "exec -i box run",
    "compose run box",
    "-D exec run",
    "--unknown thing run image",
    "run --cidfile /x image",
  ];
  for (const line of lines) await use(home, command, line.split(" "));
  await use(home, command, ["run", "-i", "image"], { stopContainer: false });
  expect(ran()).toEqual([...lines, "run -i image"]);
});

test("[E025] a container is started where the folder for temporary files does not exist", async () => {
  await using home = await temporaryHome({ env: { TMPDIR: "/no/such/folder" } });
  const { command, ran, idFile } = await fakeEngine(home);
  await use(home, command, ["run", "-i", "--rm", "image"]);
  expect(shown(ran())).toEqual(["run --cidfile=… -i --rm image", "rm --force abc123"]);
  expect([dirname(idFile()), existsSync(idFile())]).toEqual(["/tmp", false]);
});

test("[E025] the container of a session that was killed is ended by the next start, and nobody else's", async () => {
  await using home = await temporaryHome();
  const { command, ran, idFile, server } = await fakeEngine(home);
  home.write({ mcp: { mcpServers: { fake: { command, args: ["run", "-i", "--rm", "image"] } } } });
  const open = new URL("./open.ts", import.meta.url).href;
  const program = `
    const { mcp, sessionOf } = await import(${JSON.stringify(open)});
    const session = sessionOf({ env: () => process.env, home: process.env.HOME, cwd: process.cwd() });
    await mcp(session, ${JSON.stringify(call)});
    setInterval(() => {}, 1000);
  `;
  const host = spawn(process.execPath, ["--input-type=module", "-e", program], { cwd: home.cwd, env: home.env() });
  await server.until("tools/call");
  host.kill("SIGKILL");
  await new Promise((resolve) => host.once("exit", resolve));
  expect(idFiles(home)).toEqual([basename(idFile())]);

  // Others that only look alike: of a process that lives, of another engine or place, and a link.
  const dead = spawnSync("true").pid;
  const like = (change: (name: string) => string) => join(home.tmp, change(basename(idFile())));
  const living = like((name) => name.replace(`-${host.pid}-`, `-${process.pid}-`));
  const other = like((name) => name.replace(/docker-[0-9a-f]{8}/, "docker-00000000"));
  for (const file of [living, other]) writeFileSync(file, "def456");
  writeFileSync(home.path("elsewhere"), "fff999");
  symlinkSync(
    home.path("elsewhere"),
    like((name) => name.replace(`-${host.pid}-`, `-${dead}-`)),
  );

  await using session = sessionOf(home);
  await mcp(session, call);
  await until("the end of it", () => (existsSync(idFile()) ? undefined : true));
  expect(shown(ran()).filter((line) => !line.startsWith("run"))).toEqual(["stop -t 1 abc123"]);
  expect([existsSync(living), existsSync(other)]).toEqual([true, true]);
});
