/**
 * The main job from end to end, on this computer alone: a real pi with pi-mcp, a scripted model in the place of a real
 * one, and two real MCP servers. `npm run demo`, or `npm run demo -- --host 0.73` for the oldest supported pi.
 *
 * Exits 0 only if the answer holds what the servers computed and read, pi ended by itself, and no process is left.
 */
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Home } from "../test/ground/home.ts";
import { temporaryHome } from "../test/ground/home.ts";
import type { PiEvent } from "../test/ground/pi-events.ts";
import { finalText } from "../test/ground/pi-events.ts";
import { waitUntilGone } from "../test/ground/processes.ts";
import type { Host } from "../test/ground/run-pi.ts";
import { EXTENSION, HOSTS, runPi } from "../test/ground/run-pi.ts";
import { scriptedModel, toolResults } from "../test/ground/scripted-model.ts";
import { bold, dim, excerpt, green, red, say, seconds, shorten } from "./show.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SERVERS = join(ROOT, "node_modules/@modelcontextprotocol");

/** Often enough to meet every process that gets as far as starting Node. */
const SAMPLE_EVERY_MS = 50;
const COLUMNS = 110;

interface Check {
  readonly ok: boolean;
  readonly what: string;
}

interface Sighting {
  readonly pid: number;
  readonly command: string;
  readonly from: number;
  to: number;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { host: { type: "string", default: "1.6" } } });
  const host = HOSTS.find((each) => each.version.startsWith(values.host));
  if (host === undefined)
    return refuse(`There is no pi ${values.host} here, only ${HOSTS.map((each) => each.version).join(" and ")}.`);
  if (!existsSync(EXTENSION)) return refuse("dist/pi.js is missing; `npm run build` makes it.");

  const home = await temporaryHome();
  process.once("SIGINT", () =>
    home
      .remove(0)
      .catch(() => {})
      .finally(() => process.exit(130)),
  );
  const checks = await demonstrate(host, home);
  await home.remove().then(
    () => checks.push({ ok: true, what: "nothing was written outside the demo's own folder, which is gone" }),
    (error: Error) => checks.push({ ok: false, what: error.message }),
  );

  say("\nWhat had to come true:");
  for (const { ok, what } of checks) say(`  ${ok ? green("yes") : red("NO ")}  ${what}`);
  const failed = checks.filter(({ ok }) => !ok);
  if (failed.length > 0) return refuse(`The demo failed. Not true: ${failed.map(({ what }) => what).join("; ")}.`);
  return 0;
}

function refuse(why: string): number {
  process.stderr.write(`\n${red(why)}\n`);
  return 1;
}

/** Lets pi answer a question that only the servers can answer. */
async function demonstrate(host: Host, home: Home): Promise<Check[]> {
  // Neither the sum nor the word stands in anything the model is given, and both are new each time.
  const [a, b] = [randomInt(1_000, 1_000_000), randomInt(1_000, 1_000_000)];
  const word = Array.from({ length: 5 }, () => oneOf("bdfgklmnprstvz") + oneOf("aeiou")).join("");
  const folder = join(home.cwd, "notes");
  const call = (server: string, tool: string, args: object): object => ({ action: "call", server, tool, args });

  await using model = await scriptedModel([
    { call: { tool: "mcp", args: { action: "list_servers" } } },
    { call: { tool: "mcp", args: call("everything", "get-sum", { a, b }) } },
    { call: { tool: "mcp", args: call("files", "read_text_file", { path: join(folder, "note.txt") }) } },
    { say: (request) => quote(toolResults(request)) },
  ]);
  const servers = [
    {
      name: "everything",
      command: process.execPath,
      args: [join(SERVERS, "server-everything/dist/index.js"), "stdio"],
    },
    { name: "files", command: process.execPath, args: [join(SERVERS, "server-filesystem/dist/index.js"), folder] },
  ];
  // Without the second line pi 1.x says at each start that pi-mcp has taken the place of its own client.
  const settings = { mcpServers: servers, extensions: ["-builtin:mcp"] };
  home.write({ model, settings, files: { "project/notes/note.txt": `${word}\n` } });
  const tidy = (text: string): string =>
    text.replaceAll(process.execPath, "node").replaceAll(home.cwd, "project").replaceAll(ROOT, "");

  say(bold(`${host.name} with pi-mcp, a scripted model and two real MCP servers. No key, no network.`));
  say("\nConfigured servers (settings.json):");
  for (const { name, command, args } of servers) say(`  ${name.padEnd(11)} ${dim(tidy([command, ...args].join(" ")))}`);
  const prompt = `What is ${a} + ${b}, and which word is in notes/note.txt?`;
  say(`\nThe person asks: ${bold(prompt)}\n`);

  const onEvent = narrator(tidy);
  const sightings = watchProcesses(home);
  const run = await runPi(host, home, { mode: "json", prompt, extension: EXTENSION, onEvent });
  const left = await waitUntilGone(home.survivors);
  const answer = finalText(run.events);

  say(`\npi answers: ${bold(answer)}`);
  if (run.stderr !== "") say(`\npi wrote to stderr:\n${dim(tidy(run.stderr.trimEnd()))}`);
  say("\nProcesses while it ran:");
  for (const { pid, command, from, to } of sightings())
    say(`  ${String(pid).padEnd(7)} ${seconds(from)} to ${seconds(to)}   ${dim(shorten(tidy(command), COLUMNS - 34))}`);

  const end = run.hung ? "no, it was killed" : `exit code ${run.code ?? run.signal}, after${seconds(run.durationMs)}`;
  const stayed = left.map(({ pid, command }) => `, but ${pid} ${tidy(command)}`).join("");
  const contacted = model
    .outside()
    .map((address) => `, but ${address}`)
    .join("");
  return [
    {
      ok: answer.includes(`The sum of ${a} and ${b} is ${a + b}.`),
      what: `the answer has the sum from the server everything, ${a + b}`,
    },
    { ok: answer.includes(`the note says ${word}.`), what: `the answer has the word from the server files, ${word}` },
    { ok: run.code === 0 && !run.hung, what: `pi ended by itself and without an error (${end.trim()})` },
    { ok: left.length === 0, what: `no process is left${stayed}` },
    { ok: contacted === "", what: `nothing was asked of another computer${contacted}` },
  ];
}

function oneOf(letters: string): string {
  return letters.charAt(randomInt(letters.length));
}

/** The scripted model's answer: nothing but what the two calls brought, of each the line after the heading. */
function quote([, sum, note]: string[]): string {
  const line = (result = ""): string => result.split("\n")[1] ?? "(nothing)";
  return `${line(sum)} And the note says ${line(note)}.`;
}

/** Tells what pi does while it does it: each tool call, its result, and how long that took. */
function narrator(tidy: (text: string) => string): (event: PiEvent, afterMs: number) => void {
  const starts = new Map<unknown, number>();
  return (event, afterMs) => {
    if (event.type === "tool_execution_start") {
      starts.set(event.toolCallId, afterMs);
      say(`${seconds(afterMs)}  the model calls ${bold(String(event.toolName))} ${tidy(JSON.stringify(event.args))}`);
    } else if (event.type === "tool_execution_end") {
      const took = seconds(afterMs - (starts.get(event.toolCallId) ?? afterMs)).trim();
      say(`${seconds(afterMs)}  ${event.isError === true ? red("an error") : "a result"} after ${took}`);
      const { content = [] } = event.result as { content?: { text?: string }[] };
      const text = tidy(content.map((block) => block.text ?? "").join("\n"));
      for (const line of excerpt(text, 8, COLUMNS - 12)) say(`            ${dim(line)}`);
    }
  };
}

/** Looks which processes belong to the home, again and again; the function it gives ends that and tells. */
function watchProcesses(home: Home): () => Sighting[] {
  const started = performance.now();
  const seen = new Map<number, Sighting>();
  const look = (): void => {
    const now = performance.now() - started;
    for (const { pid, command } of home.survivors()) {
      const known = seen.get(pid);
      if (known === undefined) seen.set(pid, { pid, command, from: now, to: now });
      else known.to = now;
    }
  };
  const timer = setInterval(look, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return [...seen.values()];
  };
}
