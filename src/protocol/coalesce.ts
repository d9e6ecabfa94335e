/** Servers announce a change once for each of a hundred tools they register: what follows so soon is the same change. */
const GATHER_MS = 100;

/**
 * Makes one run of many calls: it begins a moment after the first of them, one run is never beside another, and calls
 * during a run lead to one more behind it [E184]. A pending run does not hold the process.
 */
export function coalesce(run: () => void | Promise<void>): () => void {
  let state: "idle" | "waiting" | "running" | "running, again" = "idle";
  const begin = async () => {
    state = "running";
    try {
      await run();
    } catch {
      // Whoever runs reports its own failures.
    }
    const isCalledAgain = (state as string) === "running, again";
    state = "idle";
    if (isCalledAgain) call();
  };
  const call = () => {
    if (state === "running") state = "running, again";
    if (state !== "idle") return;
    state = "waiting";
    setTimeout(() => void begin(), GATHER_MS).unref();
  };
  return call;
}
