import type { KeptPermission, PermissionSettings, ServerConfig, UseKind } from "../config/record.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError, messageOf } from "../error.ts";
import { decide, isKept, serverIdentity, type Use, type Verdict } from "../permission/decide.ts";
import type { PermissionAnswer, PermissionPort, PermissionRequest } from "../permission/port.ts";
import type { JsonObject } from "../protocol/types.ts";
import { cancelled } from "../server/failure.ts";
import type { Server } from "../server/server.ts";
import { assertIncluded } from "../server/unknown-tool.ts";

/** Something of a server that is about to be used. */
export interface UseRequest {
  readonly kind: UseKind;
  readonly name: string;
  readonly args?: JsonObject | undefined;
}

export interface PermitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly callId?: string | undefined;
}

/**
 * Resolves when the use is allowed. Rejects with McpServerError `denied`, which says why and what to do, or `cancelled`;
 * with what went wrong when the tool had to be looked up. Every use of a server comes through here.
 */
export type Permit = (server: Server, use: UseRequest, options: PermitOptions) => Promise<void>;

export interface PermitPlace {
  /** As they are now. */
  settings(): PermissionSettings | undefined;
  /** Absent: nobody can be asked. */
  readonly port: PermissionPort | undefined;
  /** Keeps an answer for good; throws an Error with a sentence. */
  keep(permission: KeptPermission): void;
}

const NAME_CHARS = 100;

const ALLOWING: ReadonlySet<PermissionAnswer> = new Set<PermissionAnswer>(["once", "thing", "server", "always"]);

/** A question that is open or waits for its turn, and those who wait for its answer. */
interface Question {
  readonly answer: Promise<PermissionAnswer>;
  readonly over: AbortController;
  waiters: number;
}

/** The one point that says whether something may be used; it has the answers of one session. */
export function createPermit({ settings, port, keep }: PermitPlace): Permit {
  /** What was allowed for the session, by key. */
  const allowed = new Set<string>();
  const questions = new Map<string, Question>();
  let turn: Promise<unknown> = Promise.resolve();

  const isAnswered = (use: Use, identity: string) =>
    allowed.has(serverKey(use, identity)) ||
    allowed.has(useKey(use, identity)) ||
    isKept(settings()?.kept ?? [], use, identity);

  /** Rejects only when the host cannot ask. */
  const ask = async (port: PermissionPort, request: PermissionRequest, identity: string, signal: AbortSignal) => {
    const { server, kind, name } = request;
    const use = { server, kind, name };
    // The answer to the question before may have been one for this, too.
    if (isAnswered(use, identity)) return "once";
    // A host that leaves its question open must not keep the others waiting.
    const answer = await Promise.race([port.ask(request, signal), aborted(signal)]);
    if (signal.aborted) return "deny";
    if (answer === "server") allowed.add(serverKey(use, identity));
    if (answer === "thing" || answer === "always") allowed.add(useKey(use, identity));
    if (answer === "always") {
      try {
        keep({ ...use, identity });
      } catch (error) {
        port.tell?.(`What was allowed holds for this session alone. ${messageOf(error)}`);
      }
    }
    return answer;
  };

  /** One question at a time, and one for all who ask the same. */
  const question = (port: PermissionPort, request: PermissionRequest, identity: string): Question => {
    const { server, kind, name, args } = request;
    const key = JSON.stringify([server, identity, kind, name, args]);
    const open = questions.get(key);
    if (open) return open;
    const over = new AbortController();
    const answer = turn.then(() => {
      if (over.signal.aborted) return "deny";
      return ask(port, request, identity, over.signal);
    });
    turn = answer.catch(() => {});
    const made: Question = { answer, over, waiters: 0 };
    questions.set(key, made);
    const forget = () => {
      if (questions.get(key) === made) questions.delete(key);
    };
    over.signal.addEventListener("abort", forget);
    answer.then(forget, forget);
    return made;
  };

  const judge = async (server: Server, use: Use, signal: AbortSignal | undefined): Promise<Verdict> => {
    const now = settings();
    if (now === undefined) return { effect: "allow" };
    const { trustsHints } = server.config.policy;
    // That they do nothing but read is what resources and prompts are by the protocol.
    const said = use.kind === "tool" ? "unknown" : { readOnlyHint: true };
    const verdict = decide(now, use, trustsHints ? said : "untrusted");
    return verdict.effect === "look" ? decide(now, use, await server.tools.annotationsOf(use.name, signal)) : verdict;
  };

  return async (server, { kind, name, args }, { signal, callId }) => {
    const { config } = server;
    const use = { server: config.name, kind, name };
    const verdict = await judge(server, use, signal);
    if (verdict.effect === "deny") throw forbidden(config, use, verdict.why);
    if (verdict.effect !== "ask") return;
    if (kind === "tool") assertIncluded(config, name);
    const identity = serverIdentity(config);
    if (isAnswered(use, identity)) return;
    if (port === undefined) throw unasked(config, use, verdict.why);
    const annotations = kind === "tool" ? (server.tools.knownOf(name)?.annotations ?? {}) : {};
    const request = {
      ...use,
      annotations,
      why: verdict.why,
      ...(args && { args }),
      ...(callId !== undefined && { callId }),
    };
    const answer = await answerTo(question(port, request, identity), config, signal).catch((thrown: unknown) => {
      throw thrown instanceof McpServerError ? thrown : unasked(config, use, verdict.why, thrown);
    });
    // What is none of the answers allows nothing either.
    if (!ALLOWING.has(answer)) throw declined(config, use);
    // What the configuration says by now is the last word.
    const now = await judge(server, use, signal);
    if (now.effect === "deny") throw forbidden(config, use, now.why);
  };
}

function aborted(signal: AbortSignal): Promise<"deny"> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
  });
}

/** The question ends when nobody waits for it any more. */
async function answerTo(
  question: Question,
  config: ServerConfig,
  signal: AbortSignal | undefined,
): Promise<PermissionAnswer> {
  question.waiters++;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(cancelled(config));
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([question.answer, aborted]);
  } finally {
    signal?.removeEventListener("abort", stop);
    if (--question.waiters === 0) question.over.abort();
  }
}

function serverKey({ server }: Use, identity: string): string {
  return JSON.stringify([server, identity]);
}

function useKey({ server, kind, name }: Use, identity: string): string {
  return JSON.stringify([server, identity, kind, name]);
}

function nameOf({ kind, name }: Use): string {
  return `${kind} \`${sanitizeLine(name, NAME_CHARS)}\``;
}

function forbidden({ name }: ServerConfig, use: Use, why: string): McpServerError {
  const text = `its ${nameOf(use)} may not be used: ${why}. Do not try it again; only the person can change that`;
  return new McpServerError(name, "denied", `MCP server \`${name}\`: ${text}`);
}

function unasked({ name }: ServerConfig, use: Use, why: string, cause?: unknown): McpServerError {
  const what = `its ${nameOf(use)} was not used: ${why} wants a person to be asked, and nobody can be asked here`;
  const how = "Do not try it again; the person can allow it under `permission.allow` in their own mcp.json";
  return new McpServerError(name, "denied", `MCP server \`${name}\`: ${what}. ${how}`, { cause });
}

function declined({ name }: ServerConfig, use: Use): McpServerError {
  const text = `User denied permission: ${nameOf(use)} of MCP server \`${name}\` was not used`;
  return new McpServerError(name, "denied", `${text}. Do not try it again unless the person asks for it`);
}
