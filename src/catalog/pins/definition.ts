import { createHash } from "node:crypto";
import { isObject } from "../../is-object.ts";
import type { JsonObject, ToolDefinition } from "../../protocol/types.ts";

/** What a model reads of a tool, and what a host decides by. */
const MEMBERS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

const HASH_DIGITS = 32;

/** A tool as a person has accepted it. */
export interface Pin {
  readonly hash: string;
  /** Absent where the record would have grown too large: then it is known that it was another one, and not which. */
  readonly definition?: JsonObject;
}

export interface PinChange {
  readonly tool: string;
  /** `new`: it was not there when the server's tools were accepted. */
  readonly kind: "changed" | "new";
  readonly before?: JsonObject;
  readonly now: JsonObject;
}

const made = new WeakMap<ToolDefinition, Required<Pin>>();

export function pinOf(tool: ToolDefinition): Required<Pin> {
  const known = made.get(tool) ?? makePin(tool);
  made.set(tool, known);
  return known;
}

function makePin({ raw }: ToolDefinition): Required<Pin> {
  const members = MEMBERS.flatMap((member) => (raw[member] === undefined ? [] : [[member, raw[member]]]));
  const definition = Object.fromEntries(members) as JsonObject;
  const hash = createHash("sha256").update(canonical(definition)).digest("hex").slice(0, HASH_DIGITS);
  return { hash, definition };
}

/** What is not as it was accepted; a tool that is gone is no change, as there is nothing of it to be called. */
export function pinChanges(accepted: ReadonlyMap<string, Pin>, tools: readonly ToolDefinition[]): PinChange[] {
  return tools.flatMap((tool): PinChange[] => {
    const { hash, definition } = pinOf(tool);
    const pin = accepted.get(tool.name);
    if (pin?.hash === hash) return [];
    const before = pin?.definition;
    return [{ tool: tool.name, kind: pin ? "changed" : "new", now: definition, ...(before && { before }) }];
  });
}

/** The same text for whatever order a server writes the members in. */
function canonical(definition: JsonObject): string {
  try {
    return JSON.stringify(definition, (_, value: unknown) => (isObject(value) ? sorted(value) : value));
  } catch {
    // Nested deeper than that can be told.
    return JSON.stringify(definition);
  }
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
