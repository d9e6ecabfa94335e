import type { Socket } from "node:net";
import { duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { Peer, type PeerHandlers } from "./peer.ts";

const NOTHING: PeerHandlers = { notify: () => {}, request: async () => undefined, closed: () => {} };

/** Both ends of a line. */
function line(handlers: Partial<PeerHandlers>): { near: Peer; far: Peer } {
  const [near, far] = duplexPair() as unknown as [Socket, Socket];
  return { near: new Peer(near, NOTHING), far: new Peer(far, { ...NOTHING, ...handlers }) };
}

test("a notice that fails at the other end costs neither the line nor the next request", async () => {
  let isClosed = false;
  const { near } = line({
    notify: () => {
      throw new Error("a fault");
    },
    request: async (method) => `answer to ${method}`,
    closed: () => {
      isClosed = true;
    },
  });
  near.notify("servers", {});
  expect(await near.request("command", {})).toBe("answer to command");
  expect(isClosed).toBe(false);
});

test("a request is answered, refused with what was said, taken back, or ends with the line", async () => {
  const taken: string[] = [];
  const { near, far } = line({
    request: (method, _params, signal) =>
      method === "refuse"
        ? Promise.reject(new Error("not here"))
        : new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              taken.push(method);
              reject(new Error("late"));
            });
          }),
  });
  await expect(near.request("refuse", {})).rejects.toThrow("not here");
  const over = new AbortController();
  const one = near.request("one", {}, over.signal);
  const two = near.request("two", {});
  over.abort();
  await expect(one).rejects.toThrow("cancelled");
  await expect(near.request("three", {}, over.signal)).rejects.toThrow("cancelled");
  await expect(near.request("refuse", {})).rejects.toThrow("not here");
  expect(taken).toEqual(["one"]);
  far.close();
  await expect(two).rejects.toThrow("the line is closed");
  await expect(near.request("four", {})).rejects.toThrow("the line is closed");
});
