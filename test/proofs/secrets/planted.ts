import { createHash } from "node:crypto";

/** Letters and digits in the middle of a secret: no encoding but base64 changes them, so they show it in every form. */
const CORE_CHARS = 16;
/** So much of it in a row is a part of it, and no chance. */
const PIECE_CHARS = 8;

/** Secrets that were put somewhere, and a look for any part of them. */
export class Planted {
  readonly #cores = new Map<string, string>();

  /** A value around letters and digits of its own. `text` has in it what JSON and addresses escape, `ascii` what a header may. */
  plant(name: string, kind: "text" | "ascii" | "word"): string {
    const core = createHash("sha256").update(name).digest("base64").replace(/\W/g, "").slice(0, CORE_CHARS);
    this.#cores.set(name, core);
    return { text: `pä"s\\s/${core}+ &=€`, ascii: `p"s\\s/${core}+ &=x`, word: `k${core}2` }[kind];
  }

  /** Plants what somebody else has made. */
  add(value: string): void {
    this.#cores.set(value, value);
  }

  get names(): string[] {
    return [...this.#cores.keys()];
  }

  /** The names of those of which a part stands in a text, as it is or in base64. */
  in(text: string): string[] {
    const texts = [text, ...decodings(text)];
    return this.names.filter((name) => {
      const core = this.#cores.get(name) ?? "";
      const pieces = Array.from({ length: core.length - PIECE_CHARS + 1 }, (_, at) => core.slice(at, at + PIECE_CHARS));
      return texts.some((each) => pieces.some((piece) => each.includes(piece)));
    });
  }
}

/** What runs of base64 in a text stand for, whichever of their characters is the first of four. */
function decodings(text: string): string[] {
  const runs = text.match(/[\w+/-]{12,}/g) ?? [];
  return [0, 1, 2, 3].map((at) =>
    runs.map((run) => Buffer.from(run.slice(at), "base64").toString("latin1")).join("\n"),
  );
}

/** Everything that is known to a server, in each way a careless one may write it. */
export function encodings(facts: object): string {
  const values = Object.values(facts).map(String);
  const json = JSON.stringify(facts);
  return [
    Object.entries(facts)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join("\n"),
    json,
    JSON.stringify(json),
    encodeURIComponent(json),
    ...values.map((value) => `?v=${encodeURIComponent(value)}&w=${new URLSearchParams([["x", value]])}`),
    ...values.map((value) => Buffer.from(value).toString("base64")),
    Buffer.from(json).toString("base64"),
    Buffer.from(` ${json}`).toString("base64url"),
    Buffer.from(`  ${json}`).toString("base64"),
  ].join("\n");
}
