import { isDeepStrictEqual } from "node:util";
import type { Progress } from "../../protocol/types.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "../../tools/tool.ts";
import type { PiApi, PiToolResult } from "./api.ts";

/**
 * The tools pi has of us. pi takes a new definition of a tool, but takes none back: a tool that is withdrawn is made
 * inactive, so that no model sees it. A model that calls it from memory gets an answer all the same.
 */
export class PiTools {
  readonly #pi: PiApi;
  /** What was registered last under each name. */
  readonly #registered = new Map<string, ToolDescription>();
  readonly #withdrawn = new Set<string>();

  constructor(pi: PiApi) {
    this.#pi = pi;
  }

  /** Whether a tool is one of ours, withdrawn or not. */
  has(name: string): boolean {
    return this.#registered.has(name);
  }

  /** Whether a model sees it, as it is described here. */
  offers(tool: ToolDescription): boolean {
    return !this.#withdrawn.has(tool.name) && isDeepStrictEqual(this.#registered.get(tool.name), tool);
  }

  offer(tool: ToolDescription, run: (call: ToolCall) => Promise<ToolAnswer>): void {
    const { name, label, description, parameters, promptSnippet, promptGuidelines } = tool;
    this.#registered.set(name, tool);
    this.#pi.registerTool({
      name,
      label,
      description,
      parameters,
      ...(promptSnippet !== undefined && { promptSnippet }),
      ...(promptGuidelines && { promptGuidelines: [...promptGuidelines] }),
      execute: async (id, args, signal, onUpdate) => {
        const onProgress = (progress: Progress) => {
          onUpdate?.({ content: [{ type: "text", text: progressText(progress) }], details: {} });
        };
        return toPiResult(await run({ args, id, signal, onProgress }));
      },
    });
    // Registering activates what pi has not known before, and nothing else.
    if (this.#withdrawn.delete(name)) this.#pi.setActiveTools([...this.#pi.getActiveTools(), name]);
  }

  withdraw(names: Iterable<string>): void {
    const gone = new Set([...names].filter((name) => this.has(name) && !this.#withdrawn.has(name)));
    if (gone.size === 0) return;
    for (const name of gone) this.#withdrawn.add(name);
    this.#pi.setActiveTools(this.#pi.getActiveTools().filter((name) => !gone.has(name)));
  }
}

function toPiResult(answer: ToolAnswer): PiToolResult {
  return { content: [...answer.content], details: answer.details, isError: answer.isError };
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}
