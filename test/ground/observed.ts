import type { JsonObject, WireMessage } from "./script.ts";
import { until } from "./wait.ts";

/** One thing a fake server received, in order. */
export interface Received {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The process that received it (stdio). */
  readonly pid?: number;
  /** HTTP: POST, GET or DELETE; GET and DELETE carry no message. */
  readonly httpMethod?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly message?: WireMessage;
}

/** What a test may ask of a fake server, over either transport. */
export interface Observed {
  /** Everything it received, over all starts. */
  received(): Received[];
  /** The methods of the requests and notifications it received, in order. */
  methods(): string[];
  /** The params of each message with this method, in order. */
  params(method: string): (JsonObject | undefined)[];
  /** Waits until it has received so many messages with this method; gives the last of these. */
  until(method: string, count?: number, timeoutMs?: number): Promise<Received>;
}

export function observe(received: () => Received[]): Observed {
  const having = (method: string): Received[] => received().filter((each) => each.message?.method === method);
  return {
    received,
    methods: () => received().flatMap((each) => each.message?.method ?? []),
    params: (method) => having(method).map((each) => each.message?.params),
    until: (method, count = 1, timeoutMs) =>
      until(`message ${count} with method ${method}`, () => having(method)[count - 1], timeoutMs),
  };
}
