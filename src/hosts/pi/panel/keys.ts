/** What a person pressed: a name, or the character itself. */
export type Key =
  | "up"
  | "down"
  | "pageUp"
  | "pageDown"
  | "home"
  | "end"
  | "enter"
  | "escape"
  | "backspace"
  | { readonly text: string; readonly isPasted?: true };

/** pi's own table of keys, which a person may have changed. */
export interface KeyTable {
  matches(data: string, binding: string): boolean;
}

const BINDINGS = [
  ["tui.select.up", "up"],
  ["tui.select.down", "down"],
  ["tui.select.pageUp", "pageUp"],
  ["tui.select.pageDown", "pageDown"],
  ["tui.select.confirm", "enter"],
  ["tui.select.cancel", "escape"],
] as const;

const ESC = "\u001b";

const PLAIN: Readonly<Record<string, Key>> = {
  "\r": "enter",
  "\n": "enter",
  "\b": "backspace",
  "\u007f": "backspace",
  [ESC]: "escape",
  /** Twice, so fast that it came as one. */
  [ESC + ESC]: "escape",
  /** Ctrl+C. */
  "\u0003": "escape",
};

/** What follows ESC in terminals of all kinds: the plain forms, and those of the keyboard protocols that pi switches on. */
const SEQUENCES: readonly (readonly [RegExp, Key])[] = [
  [/^(?:\[(?:1;1(?::1)?)?|O)A$/, "up"],
  [/^(?:\[(?:1;1(?::1)?)?|O)B$/, "down"],
  [/^\[5(?:;1(?::1)?)?~$/, "pageUp"],
  [/^\[6(?:;1(?::1)?)?~$/, "pageDown"],
  [/^(?:\[(?:1;1(?::1)?)?|O)H$|^\[[17]~$/, "home"],
  [/^(?:\[(?:1;1(?::1)?)?|O)F$|^\[[48]~$/, "end"],
  [/^\[13(?:;1(?::1)?)?u$/, "enter"],
  [/^\[27(?:;1(?::1)?)?u$|^\[99;5(?::1)?u$|^\[27;5;99~$/, "escape"],
  [/^\[127(?:;1(?::1)?)?u$/, "backspace"],
];

/** A pasted text, behind its ESC. */
const PASTED = /^\[200~([\s\S]*)$/;
const PASTE_END = `${ESC}[201~`;

/** A character in the form of a keyboard protocol, alone or with Shift. */
const PROTOCOL_CHARACTER = /^\[(\d+)(?::(\d*))?(?::\d*)?(?:;([12])?(?::1)?(?:;[\d:]*)?)?u$/;

/** The key behind what a terminal has sent; undefined for one that means nothing here. */
export function readKey(data: string, table?: KeyTable): Key | undefined {
  const bound = BINDINGS.find(([binding]) => table?.matches(data, binding) === true);
  if (bound !== undefined) return bound[1];
  if (PLAIN[data] !== undefined) return PLAIN[data];
  if (!data.startsWith(ESC)) return /^\P{Cc}+$/u.test(data) ? { text: data } : undefined;
  const sequence = data.slice(1);
  const known = SEQUENCES.find(([pattern]) => pattern.test(sequence));
  if (known !== undefined) return known[1];
  const pasted = PASTED.exec(sequence)?.[1];
  return pasted === undefined ? protocolCharacter(sequence) : { text: pasted.replace(PASTE_END, ""), isPasted: true };
}

function protocolCharacter(sequence: string): Key | undefined {
  const [, code, shifted, modifiers] = PROTOCOL_CHARACTER.exec(sequence) ?? [];
  const isShifted = modifiers === "2";
  const point = Number(isShifted && shifted ? shifted : code);
  if (!(point >= 0x20 && point <= 0x10ffff)) return undefined;
  const character = String.fromCodePoint(point);
  return { text: isShifted && !shifted ? character.toUpperCase() : character };
}
