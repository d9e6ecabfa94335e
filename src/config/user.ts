import { homedir } from "node:os";
import type { UserEnvironment } from "./paths.ts";

/** The person this process runs for. Doors ask; everything behind them is told. */
export function userEnvironment(): UserEnvironment {
  return { env: process.env, home: homedir() };
}
