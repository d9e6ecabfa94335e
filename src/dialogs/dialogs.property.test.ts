import fc from "fast-check";
import { expect, it } from "vitest";
import type { Asker } from "./asker.ts";
import { createDialogs } from "./dialogs.ts";

/** Lines of a dialog are wrapped by its host; no line is to be a flood, and no dialog a scroll. */
const MAX_CHARS = 3_000;
const MAX_LINES = 30;
const MAX_OPTION = 100;

it("whatever a server says, a dialog holds nothing a terminal obeys or nobody sees, and fits a screen", async () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.constantFrom(
      "\u001b]52;c;x\u0007",
      "\u202e",
      "\u{e0041}",
      "x".repeat(9_000),
      "\n".repeat(500),
      "👍".repeat(3_000),
      "",
    ),
  );
  const property = fc.record(
    {
      type: fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "x"),
      title: hostile,
      description: hostile,
      enum: fc.array(hostile, { maxLength: 20 }),
      items: fc.record({ enum: fc.array(hostile, { maxLength: 20 }) }),
      default: fc.oneof(hostile, fc.boolean()),
      minLength: fc.oneof(fc.double(), hostile),
      format: hostile,
    },
    { requiredKeys: ["type"] },
  );
  const schema = fc.record({
    properties: fc.dictionary(hostile, property, { maxKeys: 6 }),
    required: fc.array(hostile),
  });
  const args = fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile)), { maxKeys: 15 });
  await fc.assert(
    fc.asyncProperty(
      hostile,
      hostile,
      schema,
      args,
      fc.infiniteStream(fc.nat(30)),
      async (name, message, form, args, choices) => {
        let questions = 0;
        const check = (text: string, options: readonly string[] = []) => {
          const all = [text, ...options].join("\n");
          expect(all).not.toMatch(/[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
          expect([...text].length).toBeLessThan(MAX_CHARS);
          expect(text.split("\n").length).toBeLessThan(MAX_LINES);
          expect(options.length).toBeLessThan(15);
          expect(new Set(options).size).toBe(options.length);
          for (const option of options) expect([...option].length).toBeLessThan(MAX_OPTION);
        };
        const asker: Asker = {
          select: async (text, options) => {
            check(text, options);
            const next = choices.next().value ?? 0;
            return questions++ > 40 ? undefined : options[next % options.length];
          },
          input: async (text, hint) => {
            check(text, [hint]);
            return questions++ > 40 ? undefined : message;
          },
          tell: () => {},
        };
        const never = new AbortController().signal;
        const model = {
          name: () => name,
          complete: async () => ({ text: message, model: name, stopReason: "endTurn" as const }),
        };
        const { permission, elicit, sample } = createDialogs(asker, () => false, model);
        const annotations = {};
        await permission.ask({ server: name, kind: "tool", name, args, annotations, why: message }, never);
        await elicit.ask(name, { mode: "form", message, schema: form }, never);
        await elicit.ask(name, { mode: "url", message, url: `https://${message}/${name}`, elicitationId: name }, never);
        const content = { type: "text", text: message };
        await sample?.(name, { messages: [{ role: "user", content }] }, never).catch(() => {});
      },
    ),
    { numRuns: 150 },
  );
});
