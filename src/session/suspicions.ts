import { escaped } from "../config/escaped.ts";
import { isObject } from "../is-object.ts";
import type { ToolDefinition } from "../protocol/types.ts";
import type { KnownTools } from "../server/catalogue.ts";

/** Words of a server that published attacks have, too: a hint for whoever reads them, and proof of nothing. */
export interface Suspicion {
  /** The tool it says it of; absent for what it says of itself. */
  readonly tool?: string;
  /** What it looks like: the end of a sentence that begins with "it". */
  readonly what: string;
  /** The words themselves, visible. */
  readonly words: string;
}

/** Of one tool, so that one long text is not all there is. */
const MAX_PER_TOOL = 5;
const MAX_TEXTS = 5_000;
const MAX_DEPTH = 100;
/** Around what was found. */
const CONTEXT_CHARS = 60;
const WORDS_CHARS = 200;

/** Within one sentence; bounded, so that a text without end is read in time. */
const near = (chars: number) => `[^.!?\\n]{0,${chars}}?`;

/** Someone the model works for. */
const PERSON = "(?:the|your|any) (?:user|human|person|operator|developer)s?";

/**
 * What is known of attacks by descriptions (tool poisoning, shadowing, hidden text). Each asks for more than a word that
 * honest tools use: servers for ssh, mail or secrets name keys, recipients and passwords in their descriptions.
 */
const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    "asks to hide something from the person",
    new RegExp(
      `\\b(?:(?:do not|don't|never|must not|without)\\b${near(25)}\\b(?:tell|mention|inform|reveal|disclose|telling|mentioning|informing|revealing)\\b${near(50)}\\b${PERSON}|(?:hide|conceal|keep|hidden|secret)\\b${near(30)}\\bfrom ${PERSON})`,
      "i",
    ),
  ],
  [
    "asks to ignore other instructions",
    new RegExp(
      `\\b(?:ignore|disregard|forget|override|bypass)\\b${near(20)}\\b(?:previous|prior|above|earlier|preceding|system|safety)\\b${near(15)}\\b(?:instructions?|prompts?|rules?|guidelines|directives)\\b`,
      "i",
    ),
  ],
  [
    "uses marks by which models are given orders",
    /<\/?\s*(?:important|system|instructions?|secret|hidden|critical|admin)\s*>|<\|(?:im_start|im_end|system|endoftext)\|>|\[\/?INST\]/i,
  ],
  [
    "asks to read credentials or keys",
    new RegExp(
      `\\b(?:read|open|cat|load|fetch|access|attach|include|send|upload|copy)\\b${near(60)}(?:[~/\\\\]\\.(?:ssh|aws|gnupg|kube|netrc|git-credentials)\\b|\\bid_(?:rsa|ed25519|ecdsa)\\b|/etc/(?:passwd|shadow)\\b|\\.(?:cursor|claude|codeium|pi)/\\S{0,30}\\.json)`,
      "i",
    ),
  ],
  [
    "asks to send what was said or what is secret",
    new RegExp(
      `\\b(?:send|forward|post|upload|transmit|exfiltrate|leak|include|pass|append)\\b${near(60)}\\b(?:(?:entire|whole|full|complete) (?:conversation|chat)|conversation history|chat history|system prompt|previous messages|all (?:environment variables|api keys|credentials|passwords|secrets))\\b`,
      "i",
    ),
  ],
  [
    "asks to change where another tool sends something",
    new RegExp(
      `\\b(?:change|set|replace|modify|redirect|rewrite)\\b${near(40)}\\b(?:recipient|destination|receiver|phone number|address)\\b${near(40)}(?:@|\\+\\d{6,}|https?:)`,
      "i",
    ),
  ],
  ["has direction marks or escape sequences in it", /[\u202a-\u202e\u2066-\u2069]|(?![\n\r\t])\p{Cc}/u],
  [
    "has characters in it that nobody sees",
    /(?:[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]){2,}|(?:\u200b|\u200c|\u200d|[\u2060-\u2064]|\ufeff){4,}/u,
  ],
];

/** The flags of England, Scotland and Wales, which alone are spelled with such characters. */
const FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

/** Letters of both cases and digits, as text in base64 has and no word does. */
const BLOB = /(?=[A-Za-z\d+/]{0,60}\d)(?=[A-Za-z\d+/]{0,60}[A-Z])(?=[A-Za-z\d+/]{0,60}[a-z])[A-Za-z\d+/]{100}/;

/** Looks through what is known of a server. */
export function findSuspicions({ server, tools }: KnownTools): Suspicion[] {
  const own = [server.title, server.description, server.instructions].filter((text) => text !== undefined);
  return [
    ...suspicionsIn(own, own),
    ...tools.flatMap((tool) =>
      suspicionsIn(textsOf(tool), [tool.description ?? ""]).map((each) => ({ tool: tool.name, ...each })),
    ),
  ];
}

/** `prose`: texts in which there is no reason for data. */
function suspicionsIn(texts: readonly string[], prose: readonly string[]): Omit<Suspicion, "tool">[] {
  const found = PATTERNS.flatMap(([what, pattern]) => first(what, pattern, texts));
  return [...found, ...first("holds data that may be a hidden text", BLOB, prose)].slice(0, MAX_PER_TOOL);
}

/** Of each kind the first is enough. */
function first(what: string, pattern: RegExp, texts: readonly string[]): Omit<Suspicion, "tool">[] {
  for (const text of texts.map((each) => each.replace(FLAGS, ""))) {
    const match = pattern.exec(text);
    if (match !== null) return [{ what, words: wordsAround(text, match.index, match[0].length) }];
  }
  return [];
}

function wordsAround(text: string, at: number, length: number): string {
  const start = Math.max(0, at - CONTEXT_CHARS);
  const end = Math.min(text.length, at + length + CONTEXT_CHARS);
  const words = escaped(text.slice(start, end))
    .replace(/\\u\{a\}/g, " ")
    .trim();
  return words.length > WORDS_CHARS ? `${words.slice(0, WORDS_CHARS)}…` : words;
}

/** Every text of a definition, names of parameters too: whatever a model reads. */
function textsOf({ raw }: ToolDefinition): string[] {
  const texts: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
    if (typeof value === "string") texts.push(value);
    else if (Array.isArray(value)) for (const item of value) collect(item, depth + 1);
    else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        texts.push(name);
        collect(item, depth + 1);
      }
    }
  };
  const { name, title, description, inputSchema, outputSchema, annotations } = raw;
  collect([name, title, description, inputSchema, outputSchema, annotations], 0);
  return texts;
}
