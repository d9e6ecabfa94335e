import type { OracleClient } from "./client.ts";

/** One thing done with a client; what it gives is compared. */
export interface Operation {
  readonly name: string;
  run(client: OracleClient): Promise<unknown>;
}

function call(name: string, args?: Readonly<Record<string, unknown>>): Operation {
  return {
    name: `call ${name}${args === undefined ? "" : ` ${JSON.stringify(args)}`}`,
    run: (client) => client.callTool(name, args),
  };
}

/** A call with what the server said and asked meanwhile. */
function callAndHear(name: string, args?: Readonly<Record<string, unknown>>): Operation {
  return {
    name: `call ${name} and hear the server`,
    run: async (client) => {
      client.heard();
      const result = await client.callTool(name, args);
      return { result, heard: client.heard() };
    },
  };
}

/** Up to the last step: it may come together with the result, and the SDK then does not tell it. */
function callWithProgress(name: string, steps: number, args?: Readonly<Record<string, unknown>>): Operation {
  return {
    name: `call ${name} with progress`,
    run: async (client) => {
      const progress: unknown[] = [];
      const result = await client.callTool(name, args, { onProgress: (each) => progress.push(each) });
      return { result, progress: progress.slice(0, steps) };
    },
  };
}

function cancel(name: string, args?: Readonly<Record<string, unknown>>): Operation {
  return {
    name: `cancel ${name}`,
    run: (client) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 200);
      return client.callTool(name, args, { signal: abort.signal });
    },
  };
}

function timeOut(name: string, args?: Readonly<Record<string, unknown>>): Operation {
  return { name: `time out ${name}`, run: (client) => client.callTool(name, args, { timeoutMs: 200 }) };
}

const LISTS: readonly Operation[] = [
  { name: "facts", run: async (client) => client.facts() },
  { name: "list tools", run: (client) => client.listTools() },
  { name: "list resources", run: (client) => client.listResources() },
  { name: "list resource templates", run: (client) => client.listResourceTemplates() },
  { name: "list prompts", run: (client) => client.listPrompts() },
  { name: "ping", run: (client) => client.ping() },
];

const UNKNOWN: readonly Operation[] = [
  call("no such tool", {}),
  { name: "read no such resource", run: (client) => client.readResource("none:such") },
  { name: "get no such prompt", run: (client) => client.getPrompt("no such prompt") },
];

/** server-everything of the official servers. */
export const EVERYTHING: readonly Operation[] = [
  ...LISTS,
  ...UNKNOWN,
  call("echo", { message: "Ünïcödé ✓" }),
  call("echo", {}),
  call("echo"),
  call("get-sum", { a: 1.5, b: 2 }),
  call("get-sum", { a: "x" }),
  call("get-tiny-image"),
  call("get-annotated-message", { messageType: "error", includeImage: true }),
  call("get-resource-links", { count: 2 }),
  call("get-resource-reference", { resourceType: "Blob", resourceId: 2 }),
  call("get-resource-reference", { resourceType: "Text", resourceId: 0 }),
  call("get-structured-content", { location: "Chicago" }),
  callWithProgress("trigger-long-running-operation", 2, { duration: 0.3, steps: 3 }),
  cancel("trigger-long-running-operation", { duration: 5, steps: 5 }),
  timeOut("trigger-long-running-operation", { duration: 5, steps: 1 }),
  call("get-roots-list"),
  callAndHear("trigger-elicitation-request"),
  callAndHear("trigger-url-elicitation", { url: "https://example.com/", elicitationId: "e" }),
  callAndHear("trigger-sampling-request", { prompt: "p", maxTokens: 5 }),
  call("simulate-research-query", { topic: "t" }),
  callAndHear("simulate-research-query", { topic: "t", ambiguous: true }),
  { name: "read a resource", run: (client) => client.readResource("demo://resource/static/document/features.md") },
  { name: "get a prompt", run: (client) => client.getPrompt("args-prompt", { city: "Rome" }) },
  {
    name: "get a prompt with a resource",
    run: (client) => client.getPrompt("resource-prompt", { resourceType: "Text", resourceId: "1" }),
  },
  { name: "get a prompt without its arguments", run: (client) => client.getPrompt("args-prompt") },
  {
    name: "complete an argument of a prompt",
    run: (client) => client.complete({ type: "ref/prompt", name: "completable-prompt" }, "department", "S"),
  },
  {
    name: "complete a resource template",
    run: (client) =>
      client.complete({ type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" }, "resourceId", "1"),
  },
];

/** server.ts in this folder. */
export const OWN: readonly Operation[] = [
  ...LISTS,
  ...UNKNOWN,
  call("echo", { message: "Ünïcödé ✓ \u0000", nested: { list: [1, null, true] } }),
  call("echo"),
  call("image"),
  call("audio"),
  call("mixed"),
  call("structured"),
  call("empty"),
  call("fail"),
  call("refuse"),
  call("crash"),
  call("big"),
  callWithProgress("progress", 3),
  cancel("hang"),
  timeOut("hang"),
  call("cancelled", { expected: 2 }),
  callAndHear("log"),
  call("header", { region: " Zürich ", where: { floor: 3 } }),
  call("header", { region: null }),
  callAndHear("ask the person"),
  callAndHear("ask the model"),
  callAndHear("ask for roots"),
  { name: "read a resource", run: (client) => client.readResource("file:///1") },
  { name: "read a resource that is gone", run: (client) => client.readResource("file:///gone") },
  { name: "get a prompt", run: (client) => client.getPrompt("full", { who: "x" }) },
  { name: "get a prompt without arguments", run: (client) => client.getPrompt("plain") },
  {
    name: "complete an argument of a prompt",
    run: (client) => client.complete({ type: "ref/prompt", name: "full" }, "who", "x"),
  },
  {
    name: "complete a resource template",
    run: (client) => client.complete({ type: "ref/resource", uri: "file:///{n}" }, "n", ""),
  },
];
