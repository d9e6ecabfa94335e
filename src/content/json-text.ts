/** A list in a JSON text, by positions in the text (UTF-16 units). */
export interface JsonList {
  /** Where each element ends. */
  readonly ends: readonly number[];
  /** Its closing bracket. */
  readonly close: number;
}

/** What lies deeper stays on its line: a text of little but brackets would grow many times over. */
const MAX_LINED_DEPTH = 5;

/** Whether a text is one JSON object or array. */
export function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The list a JSON text mostly consists of: the longest of those that stand in no other list, as `items` of
 * `{"total": 3, "items": […]}`. `undefined` for a text that is no JSON or holds no list. Linear in the text.
 */
export function mainListOf(text: string): JsonList | undefined {
  if (!isJsonText(text)) return undefined;
  let best: { list: JsonList; size: number } | undefined;
  let depth = 0;
  let start = 0;
  /** Of the list that is being read; 0: none is. */
  let listDepth = 0;
  let ends: number[] = [];
  /** Behind the last token, so that no white space is counted to an element. */
  let last = 0;
  forEachToken(text, (at, end) => {
    const sign = text[at];
    if (sign === "[" && listDepth === 0) {
      listDepth = depth + 1;
      start = at;
      ends = [];
    }
    if (sign === "[" || sign === "{") depth++;
    else if (sign === "," && depth === listDepth) ends.push(last);
    else if (sign === "]" || sign === "}") {
      if (depth === listDepth) {
        if (last !== start + 1) ends.push(last);
        if (best === undefined || at - start > best.size) best = { list: { ends, close: at }, size: at - start };
        listDepth = 0;
      }
      depth--;
    }
    last = end;
  });
  return best?.list;
}

/**
 * The same JSON text with a line for each member and element of its upper levels, to be read by lines. Every value stays as
 * it was written: a number of 20 digits would be another one after parsing.
 */
export function indentJson(text: string): string {
  const pieces: string[] = [];
  let depth = 0;
  let before = "";
  forEachToken(text, (at, end) => {
    const token = text.slice(at, end);
    const opened = before === "[" || before === "{";
    const closes = token === "]" || token === "}";
    const isLined = depth <= MAX_LINED_DEPTH;
    if (closes) depth--;
    if (isLined && (closes ? !opened : opened || before === ",")) pieces.push(`\n${"  ".repeat(depth)}`);
    pieces.push(token === ":" ? ": " : token);
    if (token === "[" || token === "{") depth++;
    before = token;
  });
  return `${pieces.join("")}\n`;
}

/** Calls back for each sign, string and bare word of a JSON text. No regular expression: long strings exhaust their stack. */
function forEachToken(text: string, see: (at: number, end: number) => void): void {
  let at = 0;
  while (at < text.length) {
    const sign = text[at] as string;
    if (isSpace(sign)) at++;
    else {
      const end = sign === '"' ? stringEnd(text, at) : isSign(sign) ? at + 1 : wordEnd(text, at);
      see(at, end);
      at = end;
    }
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function wordEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && !isSpace(text[at] as string) && !isSign(text[at] as string)) at++;
  return at;
}

function isSpace(sign: string): boolean {
  return sign === " " || sign === "\n" || sign === "\r" || sign === "\t";
}

function isSign(sign: string): boolean {
  return "[]{},:".includes(sign);
}
