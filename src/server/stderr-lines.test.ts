import { expect, it } from "vitest";
import { createRedactor } from "../content/redact.ts";
import { stderrLines } from "./stderr-lines.ts";

const redactor = createRedactor([{ value: "my-secret-value", isSecret: true }], "patterns");

async function shown(chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  const sink = stderrLines(redactor, (line) => lines.push(line));
  for (const chunk of chunks) sink.write(Buffer.from(chunk));
  await sink.close();
  return lines;
}

it("shows whole lines, however they arrive, and the last one at the end", async () => {
  const sharp = Buffer.from("ß");
  expect(await shown(["a", "b\nc\r\n\n", sharp.subarray(0, 1), sharp.subarray(1), "d"])).toEqual(["ab", "c", "ßd"]);
});

it("shows no secret and nothing that a terminal would obey", async () => {
  expect(await shown(["key my-secret-", "value\n\u001b[2J\u001b]0;title\u0007red\n"])).toEqual([
    "key [REDACTED]",
    "red",
  ]);
});

it("does not wait for ever for the end of a line", async () => {
  const lines = await shown(Array.from({ length: 100 }, () => "z".repeat(1_000)));
  expect(lines.length).toBeGreaterThan(1);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_100);
});
