import fc from "fast-check";

/**
 * Random inputs are the same in every run, so that a change that passes here passes everywhere. `PI_MCP_SEED=random`
 * looks for new ones (a failure names its seed), another number is that seed.
 */
const seed = process.env.PI_MCP_SEED;
if (seed !== "random") fc.configureGlobal({ seed: Number(seed ?? 1) });
