import { listSome } from "../../config/list-some.ts";
import { presentResult } from "../../content/present.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import type { Prompt } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import { ArgumentsError } from "../../tools/arguments.ts";
import { promptContent } from "../../tools/prompt.ts";
import { argumentUsage, assignWords, missingArguments, wordsOf } from "../../tools/prompt-arguments.ts";
import { allWords, type Command, type CommandInput, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";

const NAME_CHARS = 200;
const NAMES_SHOWN = 20;
const NO_LIMIT = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY };

/** Prints what a server writes for a prompt, or which there are. */
export const prompt: Command = {
  name: "prompt",
  help: [
    ["prompt <server>", "the prompts of a server and their arguments"],
    ["prompt <server> <name> [key=value …]", "print a prompt; words without a key are arguments in their order"],
  ],
  options: SOURCE_OPTIONS,
  async run(input) {
    const [server, name, ...words] = allWords(input);
    if (server === undefined) throw new UsageError("prompt needs a server");
    const session = openSession(input.values);
    try {
      if (name === undefined) await list(session, server, input);
      else await show(session, { server, name, words }, input);
      return EXIT.ok;
    } finally {
      await session.close({ keepResults: true });
    }
  },
};

async function list(session: McpSession, server: string, { terminal, options }: CommandInput): Promise<void> {
  const prompts = await session.listPrompts(server, { signal: options.signal });
  if (terminal.json) {
    const rows = prompts.map(({ raw: _, ...each }) => each);
    return terminal.write(`${JSON.stringify({ server, prompts: rows })}\n`);
  }
  const rows = prompts.map(({ name, title = "", description = title, arguments: args }) => {
    const usage = sanitizeLine(`${name} ${argumentUsage(args)}`, NAME_CHARS);
    return `${usage}  ${sanitizeLine(description, NAME_CHARS)}`.trimEnd();
  });
  const all = [...rows, ...session.status(server).notices];
  terminal.write(all.length === 0 ? `MCP server \`${server}\` has no prompts.\n` : `${all.join("\n")}\n`);
}

interface PromptRequest {
  readonly server: string;
  readonly name: string;
  readonly words: readonly string[];
}

async function show(session: McpSession, { server, name, words }: PromptRequest, input: CommandInput): Promise<void> {
  const { terminal, options } = input;
  const found = await findPrompt(session, server, name, options.signal);
  const { given, rest } = assignWords(found.arguments, wordsOf(words));
  const usage = `prompt ${server} ${name} ${argumentUsage(found.arguments)}`.trimEnd();
  const missing = missingArguments(found.arguments, given).map((each) => `\`${each.name}\``);
  if (rest.length > 0) throw new ArgumentsError(`\`${rest.join(" ")}\` is none of its arguments: ${usage}`);
  if (missing.length > 0) throw new ArgumentsError(`the prompt needs ${missing.join(", ")}: ${usage}`);
  const result = await session.getPrompt(server, name, given, options);
  if (terminal.json) return terminal.write(`${JSON.stringify(result.raw)}\n`);
  const content = { content: promptContent(result.messages), isError: false, raw: result.raw };
  const { blocks } = await presentResult(content, {
    tool: name,
    limit: NO_LIMIT,
    spill: session.spill,
    showImages: false,
  });
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  terminal.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** As it was listed before; a server that may have it by now is asked. */
async function findPrompt(session: McpSession, server: string, name: string, signal: AbortSignal): Promise<Prompt> {
  const among = (prompts: readonly Prompt[] = []) => prompts.find((each) => each.name === name);
  const known = among(session.knownOffers(server)?.prompts);
  if (known !== undefined) return known;
  const prompts = await session.listPrompts(server, { signal });
  const found = among(prompts);
  if (found !== undefined) return found;
  const names = prompts.map((each) => sanitizeLine(each.name, NAME_CHARS));
  const there = names.length === 0 ? "it has none" : `available: ${listSome(names, NAMES_SHOWN)}`;
  throw new ArgumentsError(`MCP server \`${server}\` has no prompt \`${sanitizeLine(name, NAME_CHARS)}\` (${there})`);
}
