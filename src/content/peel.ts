/** A text without one layer of escapes, and where each of its characters came from. */
export interface Peeled {
  readonly text: string;
  /** The place in the first text where a character, or the end, came from: one more than there are characters. */
  readonly origins: Int32Array;
}

/** What is put into one another more often nobody reads. */
const MAX_LAYERS = 8;

/** What begins an escape. */
const SIGN = /[\\%+]/g;

const ESCAPED: Readonly<Record<string, string>> = {
  ...{ "\\": "\\", '"': '"', "/": "/", n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" },
};

/**
 * A text as it is without its escapes of JSON, addresses and forms, layer by layer to the last one. A JSON text in a JSON
 * text, or an address in it, has several. Empty for a text without any. Takes time in proportion to the text.
 */
export function peel(text: string): Peeled[] {
  const layers: Peeled[] = [];
  let last: Peeled = { text, origins: new Int32Array(text.length + 1).map((_, at) => at) };
  while (layers.length < MAX_LAYERS) {
    const next = withoutLayer(last);
    if (next.text === last.text) break;
    layers.push(next);
    last = next;
  }
  return layers;
}

function withoutLayer({ text, origins }: Peeled): Peeled {
  const next = new Int32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let at = 0;
  while (at < text.length) {
    SIGN.lastIndex = at;
    const plainEnd = SIGN.exec(text)?.index ?? text.length;
    if (plainEnd > at) {
      parts.push(text.slice(at, plainEnd));
      next.set(origins.subarray(at, plainEnd), length);
      length += plainEnd - at;
      at = plainEnd;
      continue;
    }
    const sign = text.charAt(at);
    const [characters, width] =
      sign === "\\" ? unescaped(text, at) : sign === "%" ? decoded(text, at) : ([" ", 1] as const);
    parts.push(characters);
    next.fill(origins[at] ?? 0, length, length + characters.length);
    length += characters.length;
    at += width;
  }
  next[length] = origins[text.length] ?? 0;
  return { text: parts.join(""), origins: next.subarray(0, length + 1) };
}

/** What a backslash stands for (RFC 8259 section 7), and how many characters say so; itself where it is no escape. */
function unescaped(text: string, at: number): [string, number] {
  const letter = text.charAt(at + 1);
  const plain = ESCAPED[letter];
  if (plain !== undefined) return [plain, 2];
  const unit = letter === "u" ? hexAt(text, at + 2, 4) : undefined;
  return unit === undefined ? ["\\", 1] : [String.fromCharCode(unit), 6];
}

/** One character in UTF-8 as an address has it (RFC 3986 section 2.1); an octet that is none by itself. */
function decoded(text: string, at: number): [string, number] {
  const first = hexAt(text, at + 1, 2);
  if (first === undefined) return ["%", 1];
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  const octets = [first];
  for (let index = 1; index <= more; index++) {
    const octet = text.charAt(at + 3 * index) === "%" ? hexAt(text, at + 3 * index + 1, 2) : undefined;
    if (octet === undefined || octet >> 6 !== 2) return [String.fromCharCode(first), 3];
    octets.push(octet);
  }
  return [Buffer.from(octets).toString("utf8"), 3 * octets.length];
}

function hexAt(text: string, at: number, digits: number): number | undefined {
  const part = text.slice(at, at + digits);
  return part.length === digits && /^[0-9a-fA-F]+$/.test(part) ? Number.parseInt(part, 16) : undefined;
}
