import { expect, test } from "vitest";
import { chaos } from "../chaos/chaos.ts";
import { temporaryHome } from "../ground/home.ts";

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
