import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Pending } from "./pending.ts";

/** Requests of which it is kept what the other end was told. */
function requests() {
  const pending = new Pending<number>();
  const told: string[] = [];
  const wait = (id: number, signal?: AbortSignal) =>
    pending.wait(id, { send: () => told.push(`send ${id}`), cancel: () => told.push(`cancel ${id}`) }, signal);
  return { pending, told, wait };
}

test("each answer is had by whoever waits for it, once, and nothing stays on the signal", async () => {
  const { pending, told, wait } = requests();
  const { signal } = new AbortController();
  const [one, two, three] = [wait(1, signal), wait(2, signal), wait(3)];
  pending.take(2)?.resolve("b");
  pending.take(1)?.reject(new Error("no"));
  expect([pending.take(1), pending.take("3"), pending.take(undefined)]).toEqual([undefined, undefined, undefined]);
  expect(await two).toBe("b");
  await expect(one).rejects.toThrow("no");
  pending.rejectAll(new Error("closed"));
  await expect(three).rejects.toThrow("closed");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(told).toEqual(["send 1", "send 2", "send 3"]);
});

test("a request that is aborted is taken back, and one that is aborted before is never sent", async () => {
  const { pending, told, wait } = requests();
  const over = new AbortController();
  const one = wait(1, over.signal);
  over.abort();
  await expect(one).rejects.toThrow("cancelled");
  expect(pending.take(1)).toBeUndefined();
  await expect(wait(2, over.signal)).rejects.toThrow("cancelled");
  expect(told).toEqual(["send 1", "cancel 1"]);
});
