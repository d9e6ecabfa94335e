import { sanitizeText } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import { CODE, RpcError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/types.ts";
import { type Asker, showPages } from "./asker.ts";
import { nameOf, pagesOf, words } from "./text.ts";

/** What a server wants the host's model to answer (2025-11-25, client/sampling): text alone. */
export interface SampleRequest {
  readonly system?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly maxTokens: number;
  readonly temperature?: number;
}

export interface SampleAnswer {
  readonly text: string;
  readonly model: string;
  readonly stopReason: "endTurn" | "maxTokens";
}

/** How a host asks its model. */
export interface SampleModel {
  /** Of the model, for the person who is asked. Throws where there is none. */
  name(): string;
  complete(request: SampleRequest, signal: AbortSignal): Promise<SampleAnswer>;
}

/** What a server gets at most, whatever it asks for: the person pays for it. */
const MAX_TOKENS = 4_096;
/** About the same again, many times over; nobody reads more before they send it. */
const MAX_CHARS = 100_000;

const SHOWN_LINES = 15;
const SHOWN_CHARS = 1_200;

const DENY = "Deny";
const SHOW_ALL = "Show all of it";

/** The specification's code for a person who says no. */
const REJECTED = -1;

/**
 * Lets a server ask the host's model, if the person wants that: once before anything is sent to the model, and once before its
 * answer goes to the server. Rejects with RpcError, whose text the server gets.
 */
export async function askSample(
  asker: Asker,
  server: string,
  params: JsonObject,
  model: SampleModel,
  signal: AbortSignal,
): Promise<JsonObject> {
  const request = readSample(params);
  const name = model.name();
  const asked = request.messages.map(({ role, text }) => `${role}: ${text}`);
  const whole = [...(request.system === undefined ? [] : [`system: ${request.system}`]), ...asked].join("\n");
  const head = `MCP server \`${nameOf(server)}\` wants to ask your model (${nameOf(name)}, at most ${request.maxTokens} tokens):`;
  if (!(await allows(asker, head, whole, "Ask the model", signal))) throw rejected();
  const answer = await model.complete(request, signal);
  const back = `The answer of ${nameOf(answer.model)}, to be sent to MCP server \`${nameOf(server)}\`:`;
  if (!(await allows(asker, back, answer.text, "Send it", signal))) throw rejected();
  const { text, stopReason } = answer;
  return { role: "assistant", content: { type: "text", text }, model: answer.model, stopReason };
}

function rejected(): RpcError {
  return new RpcError({ code: REJECTED, message: "User rejected sampling request" });
}

async function allows(asker: Asker, head: string, text: string, yes: string, signal: AbortSignal): Promise<boolean> {
  const shown = words(text, SHOWN_LINES, SHOWN_CHARS);
  const options = [DENY, yes, ...(shown.endsWith("…") ? [SHOW_ALL] : [])];
  for (;;) {
    const answer = await asker.select(`${head}\n\n${shown}`, options, signal);
    if (answer !== SHOW_ALL) return answer === yes && !signal.aborted;
    await showPages(asker, pagesOf(text), signal);
  }
}

/** Throws RpcError for what is more than text. */
export function readSample(params: JsonObject): SampleRequest {
  const { systemPrompt, temperature, maxTokens, messages, tools } = params;
  if (Array.isArray(tools) && tools.length > 0) throw invalid("this client has no tools for sampling");
  if (!Array.isArray(messages) || messages.length === 0) throw invalid("there are no messages");
  const read = messages.map((message) => {
    if (!isObject(message)) throw invalid("a message is no object");
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") throw invalid("a role is neither user nor assistant");
    const blocks = Array.isArray(content) ? content : [content];
    const texts = blocks.map((block) => {
      if (!isObject(block) || block.type !== "text" || typeof block.text !== "string") {
        throw invalid("this client takes text alone");
      }
      // What the person is shown and nothing else goes to the model.
      return sanitizeText(block.text);
    });
    return { role, text: texts.join("\n") } as const;
  });
  const system = typeof systemPrompt === "string" && systemPrompt !== "" ? sanitizeText(systemPrompt) : undefined;
  const chars = read.reduce((sum, { text }) => sum + text.length, system?.length ?? 0);
  if (chars > MAX_CHARS) throw invalid(`more than ${MAX_CHARS} characters`);
  const wanted = typeof maxTokens === "number" && maxTokens >= 1 ? Math.floor(maxTokens) : MAX_TOKENS;
  return {
    ...(system !== undefined && { system }),
    messages: read,
    maxTokens: Math.min(wanted, MAX_TOKENS),
    ...(typeof temperature === "number" && { temperature }),
  };
}

function invalid(why: string): RpcError {
  return new RpcError({ code: CODE.invalidParams, message: `Sampling is refused: ${why}` });
}
