import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import { ProtocolError } from "./errors.ts";
import type { ExchangeRequest } from "./exchange.ts";
import { isGivingUp } from "./task-extension.ts";
import { type Pause, TaskWatch } from "./task-watch.ts";
import type { JsonObject, ToolDefinition } from "./types.ts";

/** How long a server is asked to keep a task's result. */
const TTL_MS = 3_600_000;

/**
 * The `task` parameter for a tool that can only be called as a task, in the experimental form of 2025-11-25; undefined
 * for all others.
 */
export function taskParameter(capabilities: JsonObject, tool: ToolDefinition | undefined): JsonObject | undefined {
  const execution = tool?.raw.execution;
  const isRequired = isObject(execution) && execution.taskSupport === "required";
  return isRequired && acceptsToolTasks(capabilities) ? { ttl: TTL_MS } : undefined;
}

export function acceptsToolTasks(capabilities: JsonObject): boolean {
  const { tasks } = capabilities;
  const requests = isObject(tasks) ? tasks.requests : undefined;
  const tools = isObject(requests) ? requests.tools : undefined;
  return isObject(tools) && isObject(tools.call);
}

/**
 * Looks at a task until it no longer works, then fetches its result. While input is required the server asks during
 * `tasks/result`, with requests of its own.
 */
export async function finishLegacyTask(
  task: JsonObject,
  send: (method: string, params: JsonObject, request: ExchangeRequest) => Promise<JsonObject>,
  pause: Pause,
  options: ExchangeRequest,
): Promise<JsonObject> {
  const taskId = stringOf(task.taskId);
  if (taskId === undefined) throw new ProtocolError("its task has no id");
  const { timeoutMs, signal } = options;
  const watch = new TaskWatch(pause, options);
  let state = task;
  try {
    while (state.status === "working") {
      await watch.wait(state.pollInterval);
      state = await send("tasks/get", { taskId }, { timeoutMs, signal });
      watch.looked(state);
    }
    return await send("tasks/result", { taskId }, { timeoutMs, signal });
  } catch (error) {
    if (isGivingUp(error)) send("tasks/cancel", { taskId }, { timeoutMs }).catch(() => {});
    throw error;
  }
}
