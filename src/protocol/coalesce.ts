/** Servers announce a change once for each of a hundred tools they register: what follows so soon is the same change. */
const GATHER_MS = 100;
/** A server that announces a change with every listing would be listed for ever: the waits grow. */
const LONGEST_GATHER_MS = 60_000;
/** After so long without a call the next one is a new matter. */
const QUIET_MS = 10_000;

/**
 * Makes one run of many calls: it begins a moment after the first of them, one run is never beside another, and calls
 * during a run lead to one more behind it [E184]. Run upon run it waits longer. A pending run does not hold the process.
 */
export function coalesce(run: () => void | Promise<void>): () => void {
  let state: "idle" | "waiting" | "running" | "running, again" = "idle";
  let gatherMs = GATHER_MS;
  let endedAt = Number.NEGATIVE_INFINITY;
  const begin = async () => {
    state = "running";
    try {
      await run();
    } catch {
      // Whoever runs reports its own failures.
    }
    endedAt = performance.now();
    const isCalledAgain = (state as string) === "running, again";
    state = "idle";
    if (isCalledAgain) call();
  };
  const call = () => {
    if (state === "running") state = "running, again";
    if (state !== "idle") return;
    state = "waiting";
    const isNew = performance.now() - endedAt > QUIET_MS + gatherMs;
    gatherMs = isNew ? GATHER_MS : Math.min(gatherMs * 2, LONGEST_GATHER_MS);
    setTimeout(() => void begin(), gatherMs).unref();
  };
  return call;
}
