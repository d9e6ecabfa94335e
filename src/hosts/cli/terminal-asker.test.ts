import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { terminalAsker } from "./terminal-asker.ts";

const NEVER = new AbortController().signal;

function terminal() {
  const [input, output] = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, { isTTY: true }),
  );
  let shown = "";
  output?.on("data", (chunk) => {
    shown += String(chunk);
  });
  const asker = terminalAsker(input, output);
  if (asker === undefined || input === undefined) throw new Error("It is a terminal.");
  return { asker, input, shown: () => shown };
}

it("asks only where a question is shown and an answer is taken", () => {
  const [tty, pipe] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()];
  expect(terminalAsker(pipe, tty)).toBeUndefined();
  expect(terminalAsker(tty, pipe)).toBeUndefined();
});

it.each([
  ["2\n", "b"],
  ["\n", "a"],
  ["7\nx\n0\n1\n", "a"],
])("takes %j for %s", async (typed, answer) => {
  const { asker, input, shown } = terminal();
  const asked = asker.select("Which?", ["a", "b"], NEVER);
  for (const line of typed.match(/.*\n/g) ?? []) {
    input.write(line);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await asked).toBe(answer);
  expect(shown()).toContain("\nWhich?\n\n  1) a\n  2) b\nNumber (Enter: 1, Ctrl-D: none): ");
});

it("takes a line as it was typed, and one after the other", async () => {
  const { asker, input } = terminal();
  const first = asker.input("Name?", "", NEVER);
  input.write(" Ada \n");
  expect(await first).toBe(" Ada ");
  const second = asker.input("Name?", "", NEVER);
  input.write("\n");
  expect(await second).toBe("");
});

it("is dismissed by the end of the input and by the signal", async () => {
  const { asker, input } = terminal();
  const stop = new AbortController();
  const taken = asker.select("Which?", ["a"], stop.signal);
  stop.abort();
  expect(await taken).toBeUndefined();
  expect(await asker.input("Name?", "", stop.signal)).toBeUndefined();
  const ended = asker.select("Which?", ["a"], NEVER);
  input.end();
  expect(await ended).toBeUndefined();
});
