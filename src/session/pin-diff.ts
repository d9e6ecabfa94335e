import type { PinChange } from "../catalog/pins/definition.ts";
import { escaped } from "../config/escaped.ts";
import { lineDiff } from "../config/line-diff.ts";
import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/** Of one line: a word without end is no reading. */
const LINE_CHARS = 2_000;

/** What is different about a tool, as `diff -u` shows it; what nobody would see is shown by its number. */
export function describePinChange({ kind, before, now }: PinChange): string[] {
  if (kind === "changed" && before === undefined)
    return ["(what it was is not known any more)", ...linesOf(now).split("\n")].map(clean);
  const [, ...lines] = lineDiff(before === undefined ? "" : linesOf(before), linesOf(now));
  return lines.map(clean);
}

function clean(line: string): string {
  const shown = escaped(line);
  return shown.length > LINE_CHARS ? `${shown.slice(0, LINE_CHARS)}…` : shown;
}

/** A definition in lines, each of them about one thing, in an order that is always the same. */
function linesOf({ title, description, annotations, inputSchema, outputSchema }: JsonObject): string {
  const lines = [
    ...(title === undefined ? [] : [`title: ${String(title)}`]),
    ...(description === undefined
      ? []
      : [
          "description:",
          ...String(description)
            .split("\n")
            .map((line) => `  ${line}`),
        ]),
    ...part("annotations", annotations),
    ...part("arguments", inputSchema),
    ...part("result", outputSchema),
  ];
  return lines.join("\n");
}

function part(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  const text = JSON.stringify(value, (_, item: unknown) => (isObject(item) ? sorted(item) : item), 2);
  return `${name}: ${text}`.split("\n");
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
