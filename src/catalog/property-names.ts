import { createHash } from "node:crypto";

/** What every provider takes as the name of a parameter; Anthropic's is the narrowest of the documented rules. */
const ACCEPTED = /^[A-Za-z0-9_.-]{1,64}$/;

/** Leaves room for `_` and the digits of the hash. */
const MAX_PLAIN = 55;
const HASH_DIGITS = 8;

/**
 * The name under which a model is shown each property: its own where providers take it, else one made of it. `__proto__`
 * is one nobody may use: whoever copies arguments by assignment would lose it.
 */
export function shownNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(names.filter(isShownAsIs));
  const shown = new Map<string, string>();
  for (const name of names) {
    if (isShownAsIs(name)) {
      shown.set(name, name);
      continue;
    }
    const free = candidates(name).find((candidate) => !taken.has(candidate));
    // All are taken only where somebody foresaw the hash: such a property is not shown.
    if (free === undefined) continue;
    taken.add(free);
    shown.set(name, free);
  }
  return shown;
}

/** The property that was shown to a model under this name; its own name goes first, so ask only where no property has it. */
export function nameBehind(shown: string, names: readonly string[]): string | undefined {
  return names.find((name) => !isShownAsIs(name) && candidates(name).includes(shown));
}

/** Whether every provider takes the name. */
export function isShownAsIs(name: string): boolean {
  return ACCEPTED.test(name) && name !== "__proto__";
}

function candidates(name: string): readonly string[] {
  const plain = name
    .replace(/^__proto__$/, "proto")
    .replace(/[^A-Za-z0-9_.-]/g, "_")
    .slice(0, MAX_PLAIN);
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  const marked = `${plain}_${hash}`;
  return /[A-Za-z0-9]/.test(plain) ? [plain, marked] : [marked];
}
