import { isObject, stringOf } from "./decode/fields.ts";
import { ProtocolError, RequestCancelled, RpcError } from "./errors.ts";
import type { ExchangeRequest } from "./exchange.ts";
import { pause } from "./pause.ts";
import type { JsonObject } from "./types.ts";

/** Declared to servers: a tool call may answer with a task (SEP-2663). */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Between two looks at a task whose server names no interval; and the bounds of one that does. */
const POLL = { usualMs: 1_000, leastMs: 50, mostMs: 60_000 } as const;

export interface TaskTools {
  send(method: string, params: JsonObject, request: ExchangeRequest): Promise<JsonObject>;
  ask(questions: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject>;
  readonly limits: ExchangeRequest;
}

/**
 * Looks at a task until it has ended and gives its result, as if the call had answered with it. Questions are answered
 * once each; giving up is told to the server.
 */
export async function finishTask(task: JsonObject, { send, ask, limits }: TaskTools): Promise<JsonObject> {
  const taskId = stringOf(task.taskId);
  if (taskId === undefined) throw new ProtocolError("its task has no id");
  const { signal } = limits;
  const asked = new Set<string>();
  let state = task;
  let looks = 0;
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
          if (Object.keys(questions).length > 0) {
            await send("tasks/update", { taskId, inputResponses: await ask(questions, signal) }, limits);
          }
        }
      }
      await pause(intervalOf(state.pollIntervalMs), signal);
      state = { pollIntervalMs: state.pollIntervalMs, ...(await send("tasks/get", { taskId }, limits)) };
      limits.onProgress?.({ progress: ++looks, message: stringOf(state.statusMessage) ?? String(state.status) });
    }
  } catch (error) {
    if (error instanceof RequestCancelled) {
      const { timeoutMs } = limits;
      send("tasks/cancel", { taskId }, { timeoutMs }).catch(() => {});
    }
    throw error;
  }
}

export function intervalOf(value: unknown): number {
  const asked = typeof value === "number" && value >= 0 ? value : POLL.usualMs;
  return Math.min(Math.max(asked, POLL.leastMs), POLL.mostMs);
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
