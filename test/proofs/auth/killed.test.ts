import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, type Place } from "../../auth/open.ts";
import { expired, folderOf, refreshes, startCaller } from "../../auth/refreshing.ts";
import { until } from "../../ground/wait.ts";

// Less than a lock is watched for whose holder may be alive: these are known to be dead.
const AT_ONCE_MS = 24_000;

const STEPS: readonly (readonly [step: string, seenByServer: boolean])[] = [
  ["before the lock", false],
  ["holding", false],
  ["noted", false],
  ["sent", true],
  ["answered", true],
  ["written", true],
];

/** A process that is killed at a step of its refresh, while others wait for it. How their calls end. */
async function killedAt(step: string, here: Place): Promise<string[]> {
  const killed = startCaller(here, { KILL_AT: step });
  const others = [startCaller(here), startCaller(here)];
  await Promise.all([killed, ...others].map(({ ready }) => ready));
  if (step === "sent") here.authorization.options.tokenDelayMs = 500;
  killed.child.stdin.write("go\n");
  if (step === "sent") {
    await until("the refresh", () => refreshes(here) === 1 || undefined);
    for (const { child } of others) child.stdin.write("go\n");
    killed.child.kill("SIGKILL");
    await killed.ended;
  } else {
    await killed.ended;
    for (const { child } of others) child.stdin.write("go\n");
  }
  expect(killed.child.signalCode).toBe("SIGKILL");
  if (step === "holding") expect(existsSync(join(folderOf(here), "refresh.lock"))).toBe(true);
  return (await Promise.all(others.map(({ result }) => result))).flat();
}

test.each(STEPS)(
  "[E134] a process killed in its refresh (%s) holds nobody up and signs nobody out",
  async (step) => {
    const here = await expired({ authorization: { rotates: false } });
    expect(await killedAt(step, here)).toEqual(Array.from({ length: 16 }, () => "ok"));
    expect(here.authorization.refusals).toEqual([]);
    expect(await call(here.open())).toBe("echo hi");
  },
  AT_ONCE_MS,
);

test.each(STEPS)(
  "[E134] likewise (%s) where a refresh token is good once, unless the answer was lost with the process",
  async (step, seenByServer) => {
    const here = await expired();
    const ended = await killedAt(step, here);
    if (!seenByServer || step === "written") {
      expect(ended).toEqual(Array.from({ length: 16 }, () => "ok"));
      expect([refreshes(here), here.authorization.refusals]).toEqual([1, []]);
      return;
    }
    // Nobody has a token that is good: whoever waited is told why, once it is known.
    const told = ended.filter((text) => /a process that renewed it was ended before it had the answer/.test(text));
    expect(told.length).toBeGreaterThan(0);
    for (const text of ended) expect(text).toContain("Run /mcp-auth login s");
    expect(refreshes(here)).toBe(2);
    await here.signIn();
    expect(await call(here.open())).toBe("echo hi");
  },
  AT_ONCE_MS,
);
