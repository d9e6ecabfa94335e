import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import { ProtocolError, RequestCancelled, RequestTimeout, RpcError } from "./errors.ts";
import type { ExchangeRequest } from "./exchange.ts";
import { type Pause, TaskWatch } from "./task-watch.ts";
import type { JsonObject } from "./types.ts";

/** Declared to servers: a tool call may answer with a task (SEP-2663). */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface TaskTools {
  send(method: string, params: JsonObject, request: ExchangeRequest): Promise<JsonObject>;
  ask(questions: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject>;
  readonly pause: Pause;
  readonly limits: ExchangeRequest;
}

/**
 * Looks at a task until it has ended and gives its result, as if the call had answered with it. Questions are answered
 * once each; giving up is told to the server.
 */
export async function finishTask(task: JsonObject, { send, ask, pause, limits }: TaskTools): Promise<JsonObject> {
  const taskId = stringOf(task.taskId);
  if (taskId === undefined) throw new ProtocolError("its task has no id");
  const watch = new TaskWatch(pause, limits);
  const asked = new Set<string>();
  let state = task;
  try {
    for (;;) {
      switch (state.status) {
        case "completed":
          if (isObject(state.result)) return state.result;
          throw new ProtocolError("its task completed without a result");
        case "failed":
          throw taskFailure(state);
        case "cancelled":
          throw new ProtocolError("it cancelled the task");
        case "input_required": {
          const questions = newQuestions(state.inputRequests, asked);
          if (Object.keys(questions).length === 0) break;
          const inputResponses = await watch.asking(() => ask(questions, limits.signal));
          await send("tasks/update", { taskId, inputResponses }, limits);
          break;
        }
        case "working":
          break;
        default:
          throw new ProtocolError(`its task is in the unknown state ${JSON.stringify(state.status)}`);
      }
      await watch.wait(state.pollIntervalMs);
      state = { pollIntervalMs: state.pollIntervalMs, ...(await send("tasks/get", { taskId }, limits)) };
      watch.looked(state);
    }
  } catch (error) {
    if (isGivingUp(error)) {
      const { timeoutMs } = limits;
      send("tasks/cancel", { taskId }, { timeoutMs }).catch(() => {});
    }
    throw error;
  }
}

/** Whether a task goes on at the server though nobody here waits for it any more. */
export function isGivingUp(error: unknown): boolean {
  return error instanceof RequestCancelled || error instanceof RequestTimeout;
}

function taskFailure({ error, statusMessage }: JsonObject): Error {
  if (isObject(error) && typeof error.code === "number") {
    return new RpcError({ code: error.code, message: stringOf(error.message) ?? "the task failed", data: error.data });
  }
  return new ProtocolError(`its task failed${statusMessage ? `: ${JSON.stringify(statusMessage)}` : ""}`);
}

/** Questions are repeated until the server has seen their answer; a person is asked once. */
function newQuestions(value: unknown, asked: Set<string>): JsonObject {
  const fresh = Object.entries(isObject(value) ? value : {}).filter(([key]) => !asked.has(key));
  for (const [key] of fresh) asked.add(key);
  return Object.fromEntries(fresh);
}
