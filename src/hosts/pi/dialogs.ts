import type { Asker } from "../../dialogs/asker.ts";
import type { Dialogs } from "../../dialogs/dialogs.ts";
import type { SampleModel, SampleRequest } from "../../dialogs/sample.ts";
import { hasModel, type PiContext, type PiModel, type PiModelContext } from "./api.ts";
import type { Engine } from "./live-session.ts";

/**
 * What asks the person in front of pi, also in RPC mode. Without a UI dialogs are answered at once with nothing, so there it is
 * not to be offered. A host that has moved on to another session throws: then nobody was asked.
 */
export function askingPort(engine: () => Promise<Engine>, ctx: PiContext): Dialogs {
  const { ui } = ctx;
  const asker: Asker = {
    select: (text, options, signal) => ui.select(text, [...options], { signal }),
    input: (text, hint, signal) => ui.input(text, hint, { signal }),
    tell: (text) => ui.notify(text, "warning"),
  };
  let made: Promise<Dialogs> | undefined;
  const dialogs = () => {
    made ??= engine().then(({ createDialogs, openBrowser }) => {
      const open = (address: string) => openBrowser(address, process.env);
      return createDialogs(asker, open, hasModel(ctx) ? sampleModel(ctx) : undefined);
    });
    return made;
  };
  return {
    permission: {
      ask: async (...request) => (await dialogs()).permission.ask(...request),
      tell: (text) => asker.tell(text),
    },
    elicit: { modes: ["form", "url"], ask: async (...request) => (await dialogs()).elicit.ask(...request) },
    ...(hasModel(ctx) && {
      sample: async (...request) => {
        const { sample } = await dialogs();
        if (sample === undefined) throw new Error("There is no model.");
        return sample(...request);
      },
    }),
  };
}

/** The model that the person uses at that moment. */
function sampleModel(ctx: PiModelContext): SampleModel {
  const current = () => {
    if (ctx.model === undefined) throw new Error("There is no model.");
    return ctx.model;
  };
  return {
    name: () => current().id,
    async complete(request, signal) {
      const model = current();
      const { system, maxTokens, temperature } = request;
      const context = { ...(system !== undefined && { systemPrompt: system }), messages: messagesFor(model, request) };
      const options = { maxTokens, signal, ...(temperature !== undefined && { temperature }) };
      const { content, stopReason } = await ctx.modelRegistry.complete(model, context, options);
      if (stopReason !== "stop" && stopReason !== "length") throw new Error("The model gave no answer.");
      const text = content.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
      return { text, model: model.id, stopReason: stopReason === "length" ? "maxTokens" : "endTurn" };
    },
  };
}

const NOTHING_USED = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** In pi's form, in which an answer names the model that is said to have given it. */
function messagesFor({ id, provider, api }: PiModel, { messages }: SampleRequest): object[] {
  const timestamp = Date.now();
  return messages.map(({ role, text }) => {
    const content = [{ type: "text", text }];
    if (role === "user") return { role, content, timestamp };
    return { role, content, api, provider, model: id, usage: NOTHING_USED, stopReason: "stop", timestamp };
  });
}
