import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** What calls came to a server, over all its processes, and which of them it ran. A file, so that no crash loses a line. */
export class Ledger {
  readonly file: string;
  /** By call, how often it came. */
  readonly #seen = new Map<string, number>();
  starts = 0;

  constructor(file: string) {
    this.file = file;
    for (const [what, call] of lines(file)) {
      if (what === "start") this.starts++;
      if (what === "seen") this.#count(call);
    }
  }

  start(): void {
    appendFileSync(this.file, "start\n");
  }

  /** How often it came before. */
  seen(call: string): number {
    appendFileSync(this.file, `seen ${call}\n`);
    return this.#count(call);
  }

  ran(call: string): void {
    appendFileSync(this.file, `ran ${call}\n`);
  }

  #count(call: string): number {
    const before = this.#seen.get(call) ?? 0;
    this.#seen.set(call, before + 1);
    return before;
  }
}

/** By call, how often it was run. */
export function runsIn(file: string): Map<string, number> {
  const runs = new Map<string, number>();
  for (const [what, call] of lines(file)) if (what === "ran") runs.set(call, (runs.get(call) ?? 0) + 1);
  return runs;
}

function lines(file: string): [what: string, call: string][] {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text.split("\n").map((line) => {
    const [what = "", call = ""] = line.split(" ");
    return [what, call];
  });
}
