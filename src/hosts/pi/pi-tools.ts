import { isDeepStrictEqual } from "node:util";
import type { Progress } from "../../protocol/types.ts";
import type { ToolAnswer, ToolCall, ToolDescription } from "../../tools/tool.ts";
import { type PiApi, type PiTool, type PiToolResult, tellsMcpServers } from "./api.ts";
import { toolRenderers } from "./render.ts";

/** `deferred`: not declared to the model, but found by the host's own tools, on hosts that have such. */
type Offer = "direct" | "deferred";

type Run = (call: ToolCall) => Promise<ToolAnswer>;

interface Registered {
  readonly described: ToolDescription;
  readonly offer: Offer;
  readonly definition: PiTool;
  /** The newest one: an offer of the same tool again is no new definition, but may be by another session. */
  run: Run;
}

/**
 * The tools pi has of us. pi takes a new definition of a tool, but takes none back: a tool that is withdrawn is hidden where
 * pi can do that, and else made inactive, so that no model sees it. A model that calls it from memory gets an answer all
 * the same.
 */
export class PiTools {
  readonly #pi: PiApi;
  /** What was registered last under each name. */
  readonly #registered = new Map<string, Registered>();
  readonly #withdrawn = new Set<string>();

  constructor(pi: PiApi) {
    this.#pi = pi;
  }

  /** Whether a tool is one of ours, withdrawn or not. */
  has(name: string): boolean {
    return this.#registered.has(name);
  }

  offer(described: ToolDescription, run: Run, offer: Offer = "direct"): void {
    const { name } = described;
    const former = this.#registered.get(name);
    if (former !== undefined) former.run = run;
    const isSame = former?.offer === offer && isDeepStrictEqual(former.described, described);
    if (isSame && !this.#withdrawn.has(name)) return;
    const definition = definitionOf(described, (call) => (this.#registered.get(name)?.run ?? run)(call), offer);
    this.#registered.set(name, { described, offer, definition, run });
    this.#pi.registerTool(definition);
    // Registering activates what pi has not known before, or has hidden, and nothing else.
    const wasInactive = this.#withdrawn.delete(name) && !this.#hides;
    if (wasInactive) this.#pi.setActiveTools([...this.#pi.getActiveTools(), name]);
  }

  withdraw(names: Iterable<string>): void {
    const gone = new Set([...names].filter((name) => this.has(name) && !this.#withdrawn.has(name)));
    if (gone.size === 0) return;
    for (const name of gone) this.#withdrawn.add(name);
    if (!this.#hides) this.#pi.setActiveTools(this.#pi.getActiveTools().filter((name) => !gone.has(name)));
    else {
      for (const name of gone) {
        const registered = this.#registered.get(name);
        if (registered) this.#pi.registerTool({ ...registered.definition, exposure: "hidden" });
      }
    }
  }

  get #hides(): boolean {
    return tellsMcpServers(this.#pi);
  }
}

function definitionOf(tool: ToolDescription, run: Run, exposure: Offer): PiTool {
  const { name, label, description, parameters, promptSnippet, promptGuidelines } = tool;
  const { target, namespace, annotations, outputSchema } = tool;
  return {
    name,
    label,
    description,
    parameters,
    exposure,
    ...(promptSnippet !== undefined && { promptSnippet }),
    ...(promptGuidelines && { promptGuidelines: [...promptGuidelines] }),
    ...(namespace && { namespace: { ...namespace, aliases: [...namespace.aliases] } }),
    ...(annotations && { annotations: { ...annotations } }),
    ...(outputSchema && { outputSchema }),
    ...toolRenderers(name, target),
    execute: async (id, args, signal, onUpdate) => {
      const onProgress = (progress: Progress) => {
        onUpdate?.({ content: [{ type: "text", text: progressText(progress) }], details: { progress } });
      };
      const since = performance.now();
      return toPiResult(await run({ args, id, signal, onProgress }), performance.now() - since);
    },
  };
}

/** With how long it took, which not every host tells a renderer. */
function toPiResult({ content, details, isError, structured }: ToolAnswer, durationMs: number): PiToolResult {
  const shown = { ...details, durationMs: Math.round(durationMs) };
  return { content: [...content], details: shown, isError, ...(structured && { structuredContent: structured }) };
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? count : `${count} ${message}`;
}
