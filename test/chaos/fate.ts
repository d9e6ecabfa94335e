import { createHash } from "node:crypto";

/** What becomes of one call at a server, and whether it is run. */
export type StdioFate =
  | "answers"
  | "answers slowly"
  | "answers after garbage"
  | "answers twice"
  | "answers after one of nobody's"
  | "answers with an error"
  | "answers that it failed"
  | "answers at length"
  | "answers late"
  | "runs and is silent"
  | "runs and exits"
  | "runs and is killed"
  | "runs and answers by half"
  | "runs and closes its output"
  | "is silent"
  | "exits"
  | "closes its output";

export type HttpFate =
  | "answers"
  | "answers in a stream"
  | "answers with an error"
  | "answers late"
  | "runs and is silent"
  | "runs and resets"
  | "runs and answers garbage"
  | "runs and ends the stream"
  | "is silent"
  | "resets"
  | "refuses with 500"
  | "refuses with 503"
  | "refuses with 429"
  | "loses the session";

export type StartFate = "starts" | "exits" | "starts noisily" | "starts slowly";

type Weights<Fate extends string> = Readonly<Record<Fate, number>>;

const STDIO: Weights<StdioFate> = {
  answers: 1000,
  "answers slowly": 60,
  "answers after garbage": 40,
  "answers twice": 20,
  "answers after one of nobody's": 20,
  "answers with an error": 30,
  "answers that it failed": 30,
  "answers at length": 20,
  "answers late": 15,
  "runs and is silent": 10,
  "runs and exits": 12,
  "runs and is killed": 8,
  "runs and answers by half": 8,
  "runs and closes its output": 6,
  "is silent": 6,
  exits: 10,
  "closes its output": 6,
};

const HTTP: Weights<HttpFate> = {
  answers: 700,
  "answers in a stream": 300,
  "answers with an error": 30,
  "answers late": 15,
  "runs and is silent": 10,
  "runs and resets": 40,
  "runs and answers garbage": 20,
  "runs and ends the stream": 20,
  "is silent": 6,
  resets: 40,
  "refuses with 500": 20,
  "refuses with 503": 20,
  "refuses with 429": 20,
  "loses the session": 40,
};

const START: Weights<StartFate> = { starts: 80, exits: 8, "starts noisily": 8, "starts slowly": 4 };

/** The same for the same seed and call, so that a run can be looked at again. `seen`: how often the call came before. */
export function stdioFate(seed: string, call: string, seen: number): StdioFate {
  return pick(STDIO, `${seed} stdio ${call} ${seen}`);
}

export function httpFate(seed: string, call: string, seen: number): HttpFate {
  return pick(HTTP, `${seed} http ${call} ${seen}`);
}

/** Whether the server does what the call is for, whatever it says of it afterwards. */
export function runsCall(fate: StdioFate | HttpFate): boolean {
  return /^(answers|runs)/.test(fate);
}

export function startFate(seed: string, start: number): StartFate {
  return pick(START, `${seed} start ${start}`);
}

/** A number from 0 to 1, 1 excluded, that depends on nothing but the text. */
export function chance(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}

function pick<Fate extends string>(weights: Weights<Fate>, text: string): Fate {
  const all = Object.entries(weights) as [Fate, number][];
  let left = chance(text) * all.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [fate, weight] of all) {
    left -= weight;
    if (left < 0) return fate;
  }
  throw new Error("Nothing to pick from.");
}
