/** Servers announce a change once for each of a hundred tools they register: what follows so soon is the same change. */
const GATHER_MS = 100;

/**
 * Makes one run of many calls: it begins a moment after the first of them, one run is never beside another, and calls
 * during a run lead to one more behind it [E184]. A pending run does not hold the process.
 */
export function coalesce(run: () => void | Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let again = false;
  const begin = async () => {
    timer = undefined;
    running = true;
    try {
      await run();
    } catch {
      // Whoever runs reports its own failures.
    }
    running = false;
    if (again) {
      again = false;
      call();
    }
  };
  const call = () => {
    if (running) {
      again = true;
      return;
    }
    timer ??= setTimeout(begin, GATHER_MS).unref();
  };
  return call;
}
