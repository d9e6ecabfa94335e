import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Asker } from "../../dialogs/asker.ts";

/**
 * Asks at a terminal, below what is there already: on stderr, so that the answer of a command can go elsewhere. Undefined
 * where there is no terminal that shows a question and takes an answer.
 */
export function terminalAsker(
  input: Readable & { isTTY?: boolean } = process.stdin,
  output: Writable & { isTTY?: boolean } = process.stderr,
): Asker | undefined {
  if (input.isTTY !== true || output.isTTY !== true) return undefined;
  const readLine = async (prompt: string, signal: AbortSignal): Promise<string | undefined> => {
    if (signal.aborted) return undefined;
    // Line by line, so that Ctrl-C stays a signal.
    const lines = createInterface({ input, terminal: false });
    try {
      output.write(prompt);
      return await new Promise<string | undefined>((resolve) => {
        lines.once("line", resolve).once("close", () => resolve(undefined));
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
      });
    } finally {
      lines.close();
    }
  };
  return {
    async select(text, options, signal) {
      const rows = options.map((option, index) => `  ${index + 1}) ${option}`);
      output.write(`\n${[text, "", ...rows].join("\n")}\n`);
      for (;;) {
        const line = await readLine("Number (Enter: 1, Ctrl-D: none): ", signal);
        const number = line?.trim() === "" ? 1 : Number(line);
        if (line === undefined || options[number - 1] !== undefined) return options[number - 1];
      }
    },
    tell: (text) => void output.write(`${text}\n`),
    input(text, _hint, signal) {
      output.write(`\n${text}\n`);
      return readLine("> ", signal);
    },
  };
}
