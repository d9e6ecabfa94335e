import { expect, test } from "vitest";
import { chaos } from "../../chaos/chaos.ts";
import { temporaryHome } from "../../ground/home.ts";
import { until } from "../../ground/wait.ts";

// The long run of this, with what it leaves behind, is `npm run test:chaos`.
test.each(["tern", "gull", "skua"])(
  "every call ends, and none runs twice unless that is allowed: seed %s",
  async (seed) => {
    await using home = await temporaryHome();
    const { ends, violations } = await chaos(home, { seed, calls: 250, callers: 8 });
    expect(violations).toEqual([]);
    expect(ends.get("result")).toBeGreaterThan(100);
  },
);

test.each(["crow", "rook"])(
  "likewise while servers are changed, removed and connected anew in the middle of calls: seed %s",
  async (seed) => {
    await using home = await temporaryHome();
    const { ends, violations } = await chaos(home, { seed, calls: 250, callers: 8, meddles: true });
    expect(violations).toEqual([]);
    expect(ends.get("result")).toBeGreaterThan(100);
    await until("no process", () => (home.survivors().length === 0 ? true : undefined));
  },
);
