import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fakeStdio, tool } from "../../ground/fake-server.ts";
import type { Home } from "../../ground/home.ts";
import { temporaryHome } from "../../ground/home.ts";
import type { Step } from "../../ground/script.ts";

const CLIENT = fileURLToPath(new URL("../../transport/memory-client.ts", import.meta.url));
const MIB = 1024 * 1024;

interface Measured {
  readonly tool: string;
  /** Bytes. */
  readonly rise: number;
  readonly cpuMs: number;
}

/** Calls tools in a process of its own, one after the other. */
async function measure(home: Home, ...tools: string[]): Promise<Measured[]> {
  const child = spawn(process.execPath, [CLIENT, "fake", "small", ...tools], {
    cwd: home.cwd,
    env: home.env(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = (await text(child.stdout)).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Measured);
}

/** A result with a text of so many bytes, which the server never holds as a whole. */
function result(unit: string, bytes: number): Step {
  const head = '{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":"';
  return { raw: [head, { repeat: unit, times: Math.ceil(bytes / Buffer.byteLength(unit)) }, '"}]}}\n'] };
}

async function serve(home: Home, steps: Readonly<Record<string, Step>>): Promise<void> {
  const all = { small: result("x", 1_000), ...steps };
  const on = Object.fromEntries(Object.entries(all).map(([name, step]) => [`tools/call ${name}`, step]));
  const server = await fakeStdio(home, { tools: Object.keys(all).map((name) => tool(name)), on });
  home.write({ mcp: { mcpServers: [server.entry("fake")] } });
}

/**
 * V8 holds a text with one character beyond Latin-1 in two bytes a character, so a mostly English text with a single `€`
 * in it doubles what any client of Node must hold: the text it reads and the text it returns.
 */
test.each([
  ["ASCII", 4, "0123456789 abcdef"],
  ["€ alone", 4, "€"],
  ["ASCII with a € now and then", 5, "0123456789 0123456789 0123456789 €"],
])("results of 10 and of 50 MB, %s, take less memory than %i times their size", async (_name, times, unit) => {
  await using home = await temporaryHome();
  const sizes = { ten: 10 * MIB, fifty: 50 * MIB };
  await serve(home, { ten: result(unit, sizes.ten), fifty: result(unit, sizes.fifty) });
  for (const name of ["ten", "fifty"] as const) {
    const [measured] = await measure(home, name);
    expect((measured?.rise ?? Number.NaN) / sizes[name]).toBeLessThan(times);
  }
});

test("[E010] a result of 40 MB costs about four times the work of one of 10 MB, not sixteen times", async () => {
  await using home = await temporaryHome();
  await serve(home, { ten: result("0123456789 abcdef", 10 * MIB), forty: result("0123456789 abcdef", 40 * MIB) });
  const measured = await measure(home, "ten", "forty", "ten", "forty", "ten", "forty");
  const least = (name: string) => Math.min(...measured.filter((each) => each.tool === name).map(({ cpuMs }) => cpuMs));
  expect(least("forty") / least("ten")).toBeLessThan(8);
});
