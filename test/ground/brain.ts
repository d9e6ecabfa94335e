import type { JsonObject, Raw, ServerScript, Step, ToolScript, WireMessage } from "./script.ts";
import { nth, tool } from "./script.ts";

/** Where the answer to one message goes: a stdio stream, or one HTTP response. */
export interface Outlet {
  send(message: WireMessage): Promise<void>;
  bytes(bytes: Buffer): Promise<void>;
}

/** What a fake server knows, whatever carries its messages. */
export interface Brain {
  /** The step for this message, and moves its list on. Also used to replay what earlier starts of a server received. */
  stepFor(message: WireMessage): Step;
  /** The step for something that is no message, like an HTTP GET. */
  stepOf(key: string): Step | undefined;
  /** Does all of the step up to and with its answer. */
  play(message: WireMessage, step: Step, outlet: Outlet): Promise<void>;
  /** Takes note of what needs no answer: responses to `ask`, cancellations. */
  hear(message: WireMessage): void;
}

/** Sleeps without holding the process: whoever reads messages holds it. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Writes raw parts one after the other. */
export async function writeRaw(raw: Raw, id: unknown, write: (bytes: Buffer) => Promise<void>): Promise<void> {
  for (const part of typeof raw === "string" ? [raw] : raw) {
    if (typeof part === "string") await write(Buffer.from(part.replaceAll("{{id}}", JSON.stringify(id ?? null))));
    else if ("base64" in part) await write(Buffer.from(part.base64, "base64"));
    else if ("pauseMs" in part) await pause(part.pauseMs);
    else await writeFlood(part.repeat, part.times, write);
  }
}

/** In pieces of about 64 KiB, so that a flood costs the server no memory and obeys back-pressure. */
async function writeFlood(text: string, times: number, write: (bytes: Buffer) => Promise<void>): Promise<void> {
  const perPiece = Math.max(1, Math.floor(65_536 / Math.max(1, Buffer.byteLength(text))));
  for (let left = times; left > 0; left -= perPiece) await write(Buffer.from(text.repeat(Math.min(perPiece, left))));
}

export function createBrain(script: ServerScript): Brain {
  const tools = script.tools ?? [tool("echo")];
  const used = new Map<string, number>();
  const cancelled = new Set<unknown>();
  const asked = new Map<string, () => void>();
  let asks = 0;

  const stepOf = (key: string): Step | undefined => {
    const steps = script.on?.[key];
    if (steps === undefined) return undefined;
    const index = used.get(key) ?? 0;
    used.set(key, index + 1);
    return nth(steps, index);
  };

  return {
    stepOf,
    stepFor(message) {
      if (message.method === undefined) return {};
      const named = message.method === "tools/call" ? stepOf(`tools/call ${String(message.params?.name)}`) : undefined;
      return named ?? stepOf(message.method) ?? stepOf("*") ?? {};
    },
    hear(message) {
      if (message.method === "notifications/cancelled") cancelled.add(message.params?.requestId);
      if (message.method === undefined && typeof message.id === "string") asked.get(message.id)?.();
    },
    async play(message, step, outlet) {
      for (const each of step.notify ?? []) {
        if (step.everyMs !== undefined) await pause(step.everyMs);
        await outlet.send(each);
      }
      const meta = message.params?._meta as JsonObject | undefined;
      for (const each of meta?.progressToken === undefined ? [] : (step.progress ?? [])) {
        if (step.everyMs !== undefined) await pause(step.everyMs);
        const progress = typeof each === "number" ? { progress: each } : each;
        const params = { progressToken: meta?.progressToken, ...progress };
        await outlet.send({ jsonrpc: "2.0", method: "notifications/progress", params });
      }
      if (step.ask !== undefined) {
        const id = `ask-${++asks}`;
        const answered = new Promise<void>((resolve) => asked.set(id, resolve));
        await outlet.send({ jsonrpc: "2.0", id, ...step.ask });
        await answered;
      }
      if (step.raw !== undefined) await writeRaw(step.raw, message.id, (bytes) => outlet.bytes(bytes));
      if (step.delayMs !== undefined) await pause(step.delayMs);

      if (message.id === undefined || message.method === undefined) return;
      if (cancelled.has(message.id) && !step.lateAnswer) return;
      const answer = answerTo(message, step, script, tools);
      if (answer !== undefined) await outlet.send({ jsonrpc: "2.0", id: message.id, ...answer });
    },
  };
}

type Answer = { result: unknown } | { error: NonNullable<WireMessage["error"]> };

/** Whether a step names its answer, so that HTTP knows if a bare status is all there is. */
export function namesAnswer(step: Step): boolean {
  return ["result", "error", "text", "echo", "env", "usual"].some((field) => field in step);
}

function answerTo(
  message: WireMessage,
  step: Step,
  script: ServerScript,
  tools: readonly ToolScript[],
): Answer | undefined {
  if (step.error !== undefined) return { error: step.error };
  if ("result" in step) return { result: step.result };
  if (step.text !== undefined) return { result: textResult(step.text, step.isError) };
  if (step.echo) return { result: textResult(argumentsOf(message)) };
  if (step.env !== undefined) return { result: textResult(process.env[step.env] ?? "(not set)") };
  const ends = ["silent", "raw", "exit", "signal", "status", "body", "endStream", "destroy"].some(
    (field) => field in step,
  );
  return ends && !step.usual ? undefined : usualAnswer(message, script, tools);
}

/** The answers of a right server of the legacy era (2025-06-18 and before). */
function usualAnswer(message: WireMessage, script: ServerScript, tools: readonly ToolScript[]): Answer {
  switch (message.method) {
    case "initialize":
      return {
        result: {
          protocolVersion: script.protocolVersion ?? message.params?.protocolVersion,
          capabilities: script.capabilities ?? { tools: { listChanged: true } },
          serverInfo: script.serverInfo ?? { name: "fake-server", version: "1.0.0" },
          ...(script.instructions === undefined ? {} : { instructions: script.instructions }),
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return page(message.params?.cursor, script, tools);
    case "tools/call": {
      const known = script.endlessCursor || tools.some((each) => each.name === message.params?.name);
      if (known) return { result: textResult(argumentsOf(message)) };
      return { error: { code: -32602, message: `Unknown tool: ${String(message.params?.name)}` } };
    }
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}

const CURSOR = "page-from-";

function page(cursor: unknown, script: ServerScript, tools: readonly ToolScript[]): Answer {
  const from = cursor === undefined ? 0 : Number(String(cursor).replace(CURSOR, ""));
  if (!Number.isInteger(from)) return { error: { code: -32602, message: "Invalid cursor" } };
  if (script.endlessCursor) return { result: { tools: [tool(`endless_${from}`)], nextCursor: `${CURSOR}${from + 1}` } };
  const to = from + (script.pageSize ?? tools.length);
  const rest = to < tools.length ? { nextCursor: `${CURSOR}${to}` } : {};
  return { result: { tools: tools.slice(from, to), ...rest } };
}

function argumentsOf(message: WireMessage): string {
  return JSON.stringify(message.params?.arguments) ?? "(no arguments)";
}

function textResult(text: string, isError?: true): JsonObject {
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}
