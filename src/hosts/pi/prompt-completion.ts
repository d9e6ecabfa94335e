import { sanitizeLine } from "../../content/sanitize.ts";
import type { CompletionArgument, Prompt, PromptArgument } from "../../protocol/types.ts";
import { assignWords, splitWords } from "../../tools/prompt-arguments.ts";
import type { PiCompletion } from "./api.ts";

/** A list that is longer is not looked through. */
const MAX_VALUES = 50;
const VALUE_CHARS = 200;
const DESCRIPTION_CHARS = 100;

/**
 * What may stand where a person types the arguments of a prompt: values the server proposes for the argument whose turn it is,
 * and the names of those that are not given. pi puts an item in the place of all that is typed.
 */
export async function completePrompt(
  { arguments: args }: Prompt,
  typed: string,
  valuesOf: (argument: CompletionArgument) => Promise<readonly string[]>,
): Promise<PiCompletion[] | null> {
  // Inside quotes nobody knows where the word ends.
  if (/(?:^|[\s=])["'][^"']*$/.test(typed)) return null;
  const words = splitWords(typed);
  const current = /\S$/.test(typed) ? words.pop() : undefined;
  const { text, start } = current ?? { text: "", start: typed.length };
  const { given, next } = assignWords(args, words);
  const head = typed.slice(0, start);

  const [, name = "", rest = ""] = /^([\w.-]+)=(.*)$/s.exec(text) ?? [];
  const named = args.find((arg) => arg.name === name);
  // The words after the last argument belong to it: what there is of it cannot be replaced by a word.
  const turn = named ?? (next && Object.hasOwn(given, next.name) ? undefined : next);
  const value = named ? rest : text;
  const values = turn ? await valuesOf({ name: turn.name, value, others: given }) : [];
  const before = named ? `${head}${name}=` : head;
  const items = values
    .filter((each) => each !== "" && isClean(each))
    .slice(0, MAX_VALUES)
    .map((each) => ({ value: `${before}${quoted(each)}`, label: each }));
  const isOpen = (arg: PromptArgument) => !Object.hasOwn(given, arg.name) && `${arg.name}=`.startsWith(text);
  const names = named ? [] : args.filter((arg) => isOpen(arg) && isClean(arg.name));
  const all = [
    ...items,
    ...names.map((arg) => ({
      value: `${head}${arg.name}=`,
      label: `${arg.name}=`,
      description: sanitizeLine(arg.description ?? (arg.required ? "required" : ""), DESCRIPTION_CHARS),
    })),
  ];
  return all.length === 0 ? null : all;
}

/** What a terminal might obey, or nobody would see, is not put into an editor. */
function isClean(text: string): boolean {
  return sanitizeLine(text, VALUE_CHARS) === text;
}

function quoted(value: string): string {
  return /[\s"']/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : value;
}
