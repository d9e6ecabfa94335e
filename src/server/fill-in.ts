import { type ExpandedTarget, expandTarget, valueCommands } from "../config/expand.ts";
import type { ServerConfig } from "../config/record.ts";
import type { Surroundings } from "./open-transport.ts";
import { runValueCommands } from "./value-commands.ts";

/**
 * The target of a server that is being started: its commands (`!command`) run and its variables filled in. Nothing is kept
 * for another start, which so gets a token that is fresh. Rejects with an McpServerError when a command gives no value.
 */
export async function fillIn(
  config: ServerConfig,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<ExpandedTarget> {
  const { target, policy } = config;
  const values = valueCommands(target, policy.variableForms);
  if (values.length === 0) return expandTarget(target, policy, surroundings.env);
  const outputs = await runValueCommands(config, values, surroundings, signal);
  return expandTarget(target, policy, surroundings.env, outputs);
}
