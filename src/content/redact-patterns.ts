/**
 * What looks like a secret wherever it occurs (S1-17). Results are megabytes of other people's text, so every pattern
 * has to run in linear time and with little stack on any of it: a failed match may only have walked over characters that
 * no other candidate walks over, and nothing but single characters is repeated without a bound.
 */

/** Stands for what was removed. */
export const REDACTED = "[REDACTED]";

/** What a value in an address is made of. */
const REST = "[^&\\s\"'`#\\\\]";

/** A value of which a part was found before. */
const MARK = "\\[REDACTED\\]";

/** A name that ends in one of these is the name of a secret. Tokens that only number the pages of a list are none. */
const NAME =
  "(?<!next[_-]?|page[_-]?|cursor[_-]?|continuation[_-]?|sync[_-]?)(?:api[_-]?key|token|secret|password|authorization)";

const NAME_AT_END = new RegExp(`${NAME}$`, "i");

/** Whether the value of a JSON member with this name would be removed from a text. */
export function isSecretName(name: string): boolean {
  return NAME_AT_END.test(name);
}

/**
 * How many escapes a value may hold. Loops over single characters need no stack, these do: without a bound a long enough
 * text would exhaust it.
 */
const ESCAPES = "{0,1000}";

/** A string in quotes, escapes and all, up to the end of its line if it is not closed. */
const QUOTED = `"[^"\\\\\\n]*(?:\\\\.[^"\\\\\\n]*)${ESCAPES}(?:"|(?=\\n)|\\\\?$)|'[^'\\\\\\n]*(?:\\\\.[^'\\\\\\n]*)${ESCAPES}(?:'|(?=\\n)|\\\\?$)`;

/** A string in quotes that are themselves escaped, as inside a JSON text; not closed, it ends with what holds it. */
const ESCAPED_QUOTED = `\\\\{1,3}"[^"\\\\\\n]*(?:\\\\[^"\\n][^"\\\\\\n]*)${ESCAPES}(?:\\\\{1,3}"|(?=["\\n])|\\\\{0,3}$)`;

/** Up to white space or a quote; a backslash that escapes a quote or a line break ends it too. */
const BARE = `["'\`]?(?=[^\\s"'\`\\\\]|\\\\(?!["'\`nrt]))[^\\s"'\`\\\\]*(?:\\\\(?!["'\`nrt])[^\\s"'\`\\\\]*)${ESCAPES}`;

/** Any of these, and what clings to it. */
const VALUE = `(?:(?:${MARK}|${QUOTED}|${ESCAPED_QUOTED})${REST}*|${BARE})`;

interface Pattern {
  readonly pattern: RegExp;
  readonly replacement: string;
}

const PATTERNS: readonly Pattern[] = [
  { pattern: /\bsk-[A-Za-z0-9_-]{16}[A-Za-z0-9_-]*/g, replacement: REDACTED },
  { pattern: /\bgh[pousr]_[A-Za-z0-9]{20}[A-Za-z0-9]*/g, replacement: REDACTED },
  { pattern: /\bgithub_pat_[A-Za-z0-9_]{20}[A-Za-z0-9_]*/g, replacement: REDACTED },
  { pattern: /\bAKIA[0-9A-Z]{16}/g, replacement: REDACTED },
  // `?token=x&page=2`: only the value, so that the address stays readable.
  {
    pattern: new RegExp(`([?&][\\w.-]{0,40}${NAME}=)${REST}+`, "gi"),
    replacement: `$1${REDACTED}`,
  },
  {
    pattern: new RegExp(
      `\\b(AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN))(?:\\\\{0,3}["'])?\\s*[:=]\\s*${VALUE}`,
      "gi",
    ),
    replacement: `$1=${REDACTED}`,
  },
  // A JSON member keeps its shape, so that the text stays JSON.
  {
    pattern: new RegExp(`(${NAME})(\\\\{0,3})(["'])(\\s*:\\s*)(?:${QUOTED}|${ESCAPED_QUOTED}|-?\\d[\\w.+-]*)`, "gi"),
    replacement: `$1$2$3$4$2"${REDACTED}$2"`,
  },
  {
    pattern: new RegExp(`(${NAME})\\s*[:=]\\s*(?:(?:bearer|basic|token|apikey)\\s+)?${VALUE}`, "gi"),
    replacement: `$1=${REDACTED}`,
  },
  // Not the words of a sentence about bearer tokens.
  {
    pattern:
      /\bbearer\s+(?!(?:tokens?|auth|authentication|authorization|scheme|credentials?)(?![\w.~+/=-]))[^\s"'`\\]+/gi,
    replacement: `Bearer ${REDACTED}`,
  },
  {
    pattern: /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|xox[baprs])[-_][A-Za-z0-9_-]{8}[A-Za-z0-9_-]*/gi,
    replacement: REDACTED,
  },
];

/** Replaces everything that looks like a secret. Applying it again changes nothing. */
export function redactPatterns(text: string): string {
  let redacted = redactPrivateKeys(text);
  for (const { pattern, replacement } of PATTERNS) redacted = redacted.replace(pattern, replacement);
  return redacted;
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;

/** PEM blocks (RFC 7468). One that is not closed, as at the end of a cut text, reaches to the end. */
function redactPrivateKeys(text: string): string {
  let out = "";
  let at = 0;
  for (;;) {
    KEY_BEGIN.lastIndex = at;
    const begin = KEY_BEGIN.exec(text);
    if (begin === null) return out + text.slice(at);
    out += text.slice(at, begin.index) + REDACTED;
    KEY_END.lastIndex = begin.index;
    const end = KEY_END.exec(text);
    if (end === null) return out;
    at = end.index + end[0].length;
  }
}
