import { defineConfig } from "vitest/config";

/** Of every test with random input: the same cases each time, unless somebody looks for new ones. */
const seed = process.env.PI_MCP_SEED ?? "1";

export default defineConfig({
  test: {
    // Two: a test may start several processes of its own, and the smallest machine this runs on has two cores.
    maxWorkers: 2,
    env: { PI_MCP_SEED: seed },
    reporters: ["default", "json"],
    outputFile: { json: "test-output/results.json" },
    projects: [
      {
        test: {
          name: "unit",
          setupFiles: ["test/ground/seed.ts"],
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          // Ends what hangs; a test that is merely slow on a busy machine has not failed.
          testTimeout: 20_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "end to end",
          setupFiles: ["test/ground/seed.ts"],
          include: ["test/**/*.test.ts"],
          exclude: ["test/proofs/**", "test/tui/**", "test/browser/**"],
          // Likewise, and real hosts and servers take a while to start.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      // Slow, or in need of more than npm packages; each has a script of its own and is no part of `npm test`.
      ...["proofs", "tui", "browser"].map((name, index) => ({
        test: {
          name,
          setupFiles: ["test/ground/seed.ts"],
          include: [`test/${name}/**/*.test.ts`],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 3 + index },
        },
      })),
    ],
  },
});
