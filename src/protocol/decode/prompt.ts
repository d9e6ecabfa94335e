import { isObject } from "../../is-object.ts";
import type { Decoded } from "../list.ts";
import type { Prompt, PromptArgument, PromptResult } from "../types.ts";
import { decodeContent } from "./content.ts";
import { optional, stringOf } from "./fields.ts";

/** One entry of `prompts/list`: only its name is indispensable. */
export function decodePrompt(value: unknown): Decoded<Prompt> {
  const name = isObject(value) ? stringOf(value.name) : undefined;
  if (!isObject(value) || !name) return { notice: "a prompt without a name was left out" };
  return {
    item: {
      name,
      ...optional("title", stringOf(value.title)),
      ...optional("description", stringOf(value.description)),
      arguments: Array.isArray(value.arguments) ? value.arguments.flatMap(decodeArgument) : [],
      raw: value,
    },
  };
}

function decodeArgument(value: unknown): PromptArgument[] {
  const name = isObject(value) ? stringOf(value.name) : undefined;
  if (!isObject(value) || !name) return [];
  return [{ name, ...optional("description", stringOf(value.description)), required: value.required === true }];
}

/** The result of `prompts/get`. A message's content is one block, or several where servers send a list. */
export function decodePromptResult(value: unknown): PromptResult {
  const result = isObject(value) ? value : {};
  const messages = Array.isArray(result.messages) ? result.messages.filter(isObject) : [];
  return {
    ...optional("description", stringOf(result.description)),
    messages: messages.map(({ role, content }) => ({
      role: stringOf(role) ?? "user",
      content: (Array.isArray(content) ? content : [content]).map(decodeContent),
    })),
    raw: result,
  };
}
