import { ToolNames } from "../../catalog/names.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { describeError } from "../../error.ts";
import type { CompletionArgument, Prompt } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import {
  argumentUsage,
  assignWords,
  missingArguments,
  type PromptArguments,
  splitWords,
} from "../../tools/prompt-arguments.ts";
import type { PiApi, PiCommand, PiCommandContext, PiCompletion, PiContent } from "./api.ts";
import type { Engine } from "./live-session.ts";
import { tell } from "./notice.ts";
import { completePrompt } from "./prompt-completion.ts";

/** A server with more of them is none whose prompts a person chooses from a list. */
const MAX_COMMANDS = 200;
const DESCRIPTION_CHARS = 120;
const QUESTION_CHARS = 200;
/** A message is on its way to the model within this time, or it was refused. */
const RUN_START_LIMIT_MS = 10_000;
/** Whoever types does not wait for a server. */
const COMPLETION_LIMIT_MS = 3_000;

interface Target {
  readonly server: string;
  readonly name: string;
  /** Absent when the server has it no more: pi takes no command back. */
  prompt?: Prompt | undefined;
}

/** The prompts of servers as commands of pi, `/mcp__server__prompt`. */
export class PiPrompts {
  readonly #pi: PiApi;
  readonly #engine: () => Promise<[Engine, McpSession]>;
  readonly #names = new ToolNames();
  readonly #targets = new Map<string, Target>();
  /** Told of the beginning and the end of a run. */
  #watcher: ((event: "agent_start" | "agent_end") => void) | undefined;
  /** The question for values that is under way: a letter later it is another one. */
  #asking: AbortController | undefined;

  constructor(pi: PiApi, engine: () => Promise<[Engine, McpSession]>) {
    this.#pi = pi;
    this.#engine = engine;
    pi.on("agent_start", () => this.#watcher?.("agent_start"));
    pi.on("agent_end", () => this.#watcher?.("agent_end"));
  }

  /** Makes a server's prompts commands, and those it has no more ones that say so. Tells whether any is new. */
  offer(server: string, prompts: readonly Prompt[]): boolean {
    for (const target of this.#targets.values()) if (target.server === server) target.prompt = undefined;
    let isNew = false;
    for (const prompt of prompts.slice(0, MAX_COMMANDS)) {
      const command = this.#names.nameOf(server, prompt.name);
      const target = this.#targets.get(command);
      if (target) target.prompt = prompt;
      else {
        const made: Target = { server, name: prompt.name, prompt };
        this.#targets.set(command, made);
        this.#pi.registerCommand(command, this.#command(command, made));
        isNew = true;
      }
    }
    return isNew;
  }

  #command(command: string, target: Target): PiCommand<Promise<PiCompletion[] | null>> {
    const { title, description, arguments: args = [] } = target.prompt ?? {};
    const words = [argumentUsage(args), description ?? title ?? "", `(MCP server ${target.server})`];
    return {
      description: sanitizeLine(words.filter((each) => each !== "").join(" "), DESCRIPTION_CHARS),
      getArgumentCompletions: async (typed) =>
        target.prompt ? completePrompt(target.prompt, typed, (argument) => this.#valuesOf(target, argument)) : null,
      handler: async (typed, ctx: PiCommandContext) => {
        try {
          await this.#run(command, target, typed, ctx);
        } catch (error) {
          tell({ hasUI: ctx.hasUI, ctx }, describeError(error), "error");
        }
      },
    };
  }

  async #run(command: string, { server, name, prompt }: Target, typed: string, ctx: PiCommandContext): Promise<void> {
    if (prompt === undefined)
      throw new Error(`MCP server "${server}" has no prompt "${sanitizeLine(name, 100)}" any more.`);
    const usage = `/${command} ${argumentUsage(prompt.arguments)}`.trim();
    const { given, rest } = assignWords(prompt.arguments, splitWords(typed));
    if (rest.length > 0) {
      throw new Error(`"${sanitizeLine(rest.join(" "), 60)}" is none of the arguments: ${usage}`);
    }
    const args = await askMissing(prompt, given, usage, ctx);
    if (args === undefined) return tell({ hasUI: ctx.hasUI, ctx }, "Nothing was sent.", "info");
    const [engine, session] = await this.#engine();
    const { blocks } = await engine.fetchPrompt(session, { server, prompt: name, args });
    if (blocks.length === 0) throw new Error(`The prompt of MCP server "${server}" came without a message.`);
    await this.#send([...blocks], ctx);
  }

  /** A message of the person's own, behind what the agent is at. */
  async #send(blocks: PiContent[], ctx: PiCommandContext): Promise<void> {
    const ended = ctx.hasUI ? undefined : this.#nextRun();
    this.#pi.sendUserMessage(blocks, ctx.isIdle() ? undefined : { deliverAs: "followUp" });
    // A run without a person is over with its command, unless that waits for what it has set off.
    await ended;
  }

  /** Resolves with the end of the run that is about to begin; soon if none does, for which pi has said why. */
  #nextRun(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RUN_START_LIMIT_MS);
      this.#watcher = (event) => (event === "agent_start" ? clearTimeout(timer) : resolve());
    });
  }

  /** What a server proposes; it is started for it, since the person is about to use it, but not where it failed. */
  async #valuesOf({ server, name }: Target, argument: CompletionArgument): Promise<readonly string[]> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const [, session] = await this.#engine();
      const { state } = session.status(server);
      const isOffered = session.knownOffers(server)?.offers.includes("completions");
      if (state === "failed" || state === "needs-auth" || (!isOffered && state !== "ready")) return [];
      const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(COMPLETION_LIMIT_MS)]);
      return (await session.complete(server, { type: "ref/prompt", name }, argument, { signal })).values;
    } catch {
      return [];
    }
  }
}

/** All arguments a prompt needs; undefined when the person has changed their mind. */
async function askMissing(
  { arguments: args, name }: Prompt,
  given: PromptArguments,
  usage: string,
  ctx: PiCommandContext,
): Promise<PromptArguments | undefined> {
  const missing = missingArguments(args, given);
  const named = missing.map((arg) => `\`${sanitizeLine(arg.name, 60)}\``).join(", ");
  if (missing.length > 0 && !ctx.hasUI) throw new Error(`The prompt needs ${named}: ${usage}`);
  const answers: [string, string][] = [];
  for (const { name: argument, description = "" } of missing) {
    const question = [name, argument].map((word) => sanitizeLine(word, 60)).join(": ");
    const answer = await ctx.ui.input(question, sanitizeLine(description, QUESTION_CHARS));
    if (answer === undefined || answer === "") return undefined;
    answers.push([argument, answer]);
  }
  return { ...given, ...Object.fromEntries(answers) };
}
