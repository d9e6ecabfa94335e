import { connect } from "../../src/protocol/connect.ts";
import type { ConnectionRequest, McpConnection } from "../../src/protocol/connection.ts";
import type { ClientHandlers } from "../../src/protocol/handlers.ts";
import { CLIENT_INFO } from "../../src/version.ts";
import { type Answer, Peer, Refusal, type Sent, SILENCE } from "./peer.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Nothing takes longer: everything happens in this process. */
export const REQUEST: ConnectionRequest = { timeoutMs: 10_000 };

const FORM = { type: "object", properties: { name: { type: "string", default: "nobody" } } };
const SKILL_TEXT = "---\nname: greet\ndescription: Greets\n---\nHello\n";
const SKILL = {
  uri: "skill://greet/SKILL.md",
  frontmatter: { name: "greet", description: "Greets" },
  resources: "dynamic",
};
/** What a server asks a client, with the right parameters and with ones it cannot like. */
const QUESTIONS: readonly (readonly [method: string, params?: JsonObject])[] = [
  ["ping"],
  ["roots/list"],
  ["sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 10 }],
  ["elicitation/create", { message: "Who are you?", requestedSchema: FORM }],
  ["elicitation/create", { mode: "url", message: "Log in", url: "https://example.com/", elicitationId: "1" }],
  ["elicitation/create", { mode: "smell", message: "?" }],
  ["unheard/of"],
];

/** Handlers of a host that can do everything. */
export const HANDLERS: ClientHandlers = {
  roots: () => [{ uri: "file:///work", name: "work" }, { uri: "file:///other" }],
  elicit: { modes: ["form", "url"], ask: async () => ({ action: "accept", content: {} }) },
  sample: async () => ({ role: "assistant", content: { type: "text", text: "Hello" }, model: "scripted" }),
  log: () => {},
  listChanged: () => {},
  notice: () => {},
};

/**
 * The server's side of the script; `abort` is called when the client should give up what it waits for. The same for all
 * revisions but for what they do not have.
 */
function answersOf(abort: () => void): Readonly<Record<string, Answer>> {
  const task = { execution: { taskSupport: "required" } };
  return {
    ping: () => ({}),
    "tools/list": ({ cursor }) =>
      cursor === undefined
        ? { tools: [tool("echo"), tool("ask")], nextCursor: "2" }
        : { tools: [tool("task", task), tool("slow task", task)] },
    "tools/call": (params, peer) => callTool(params, peer, abort),
    "resources/list": () => ({ resources: [{ uri: "file:///a", name: "a" }] }),
    "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "file:///{a}", name: "a" }] }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: uri === SKILL.uri ? SKILL_TEXT : "a" }] }),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    "prompts/list": () => ({ prompts: [{ name: "p" }] }),
    "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "p" } }] }),
    "completion/complete": () => ({ completion: { values: ["a"] } }),
    "logging/setLevel": () => ({}),
    "skills/list": () => ({ skills: [SKILL] }),
    "tasks/get": ({ taskId }) => {
      if (taskId === "slow") abort();
      return { taskId, status: taskId === "slow" ? "working" : "completed", result: { content: [] } };
    },
    "tasks/result": () => ({ content: [] }),
    "tasks/update": () => ({}),
    "tasks/cancel": () => ({}),
  };
}

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
  logging: {},
};

function legacyAnswers(abort: () => void): Readonly<Record<string, Answer>> {
  const since2025November = {
    tasks: { requests: { tools: { call: {} } }, cancel: {}, list: {} },
    extensions: { "io.modelcontextprotocol/skills": {} },
  };
  return {
    ...answersOf(abort),
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      serverInfo: { name: "peer", version: "1" },
      capabilities: { ...CAPABILITIES, ...(protocolVersion === "2025-11-25" && since2025November) },
    }),
  };
}

function modernAnswers(abort: () => void): Readonly<Record<string, Answer>> {
  const extensions = { "io.modelcontextprotocol/tasks": {}, "io.modelcontextprotocol/skills": {} };
  return {
    ...answersOf(abort),
    "server/discover": () => ({
      supportedVersions: ["2026-07-28"],
      capabilities: { ...CAPABILITIES, extensions },
    }),
    "subscriptions/listen": ({ notifications }, peer) => {
      peer.notify("notifications/subscriptions/acknowledged", { notifications });
      return SILENCE;
    },
  };
}

function tool(name: string, more: JsonObject = {}): JsonObject {
  return { name, inputSchema: { type: "object" }, ...more };
}

/** The tools by name: each makes the client send something. */
async function callTool(params: JsonObject, peer: Peer, abort: () => void): Promise<unknown> {
  const { name } = params;
  switch (name) {
    case "broken":
      return new Refusal(-32602, "Unknown tool: broken");
    case "hang":
      abort();
      return SILENCE;
    case "ask":
      await askAll(peer);
      return { content: [] };
    case "ask in result":
      return params.inputResponses ? { content: [] } : questionsAsResult();
    case "visit first":
      return visitFirst(peer);
    case "task":
    case "slow task":
      return startTask(name === "task" ? "t" : "slow", "task" in params);
    default:
      return { content: [{ type: "text", text: JSON.stringify(params.arguments ?? null) }] };
  }
}

async function askAll(peer: Peer): Promise<void> {
  for (const [method, params] of QUESTIONS) await peer.ask(method, params);
  // Taken back before it is answered.
  void peer.ask("elicitation/create", { message: "Quick!", requestedSchema: FORM }, "late");
  peer.notify("notifications/cancelled", { requestId: "late" });
}

function questionsAsResult(): unknown {
  const able = QUESTIONS.filter(([method]) => method !== "ping" && method !== "unheard/of");
  return {
    resultType: "input_required",
    requestState: "{ opaque }",
    inputRequests: Object.fromEntries(able.map(([method, params], at) => [`q${at}`, { method, params }])),
  };
}

/** Refuses, until an address was visited: then the call is repeated (2025-11-25, -32042). */
function visitFirst(peer: Peer): unknown {
  if (peer.sent.filter(({ message }) => isCallOf(message, "visit first")).length > 1) return { content: [] };
  setTimeout(() => peer.notify("notifications/elicitation/complete", { elicitationId: "v" }), 20);
  const elicitation = { mode: "url", elicitationId: "v", url: "https://example.com/", message: "Log in" };
  return new Refusal(-32042, "URL elicitation required", { elicitations: [elicitation] });
}

function isCallOf(message: object, name: string): boolean {
  return "params" in message && (message.params as JsonObject).name === name;
}

/** As 2025-11-25 has tasks, where the client asked for one; else as the extension of 2026-07-28. */
function startTask(taskId: string, asked: boolean): unknown {
  if (asked) return { task: { taskId, status: "working", pollInterval: 1 } };
  const who = { method: "elicitation/create", params: { message: "Who?", requestedSchema: FORM } };
  return { resultType: "task", taskId, status: "input_required", pollIntervalMs: 1, inputRequests: { who } };
}

export interface Recorded {
  /** The revision each message belongs to. */
  readonly revision: string;
  readonly sent: readonly Sent[];
}

/** Does everything a client can do, in one revision; gives what it sent. */
export async function recordSession(revision: string): Promise<Recorded> {
  const isModern = revision >= "2026";
  let patience = new AbortController();
  const peer = new Peer((isModern ? modernAnswers : legacyAnswers)(() => patience.abort()));
  const connection = await open(peer, revision);
  const call = (name: string, args?: JsonObject, more = {}) => connection.callTool(name, args, { ...REQUEST, ...more });

  await connection.ping(REQUEST);
  await connection.listTools(REQUEST);
  await call("echo", { text: "x", nested: { list: [1, null] } });
  await call("echo", undefined, { onProgress: () => {} });
  await call("broken").catch(() => {});
  await call(isModern ? "ask in result" : "ask");
  await call("task");
  if (revision === "2025-11-25") await call("visit first");
  for (const name of revision < "2025-11-25" ? ["hang"] : ["hang", "slow task"]) {
    patience = new AbortController();
    await call(name, {}, { signal: patience.signal }).catch(() => {});
  }
  await connection.listResources(REQUEST);
  await connection.listResourceTemplates(REQUEST);
  await connection.readResource("file:///a", REQUEST);
  await connection.listPrompts(REQUEST);
  await connection.getPrompt("p", { who: "x" }, REQUEST);
  await connection.complete({ type: "ref/prompt", name: "p" }, { name: "who", value: "" }, REQUEST);
  await connection.complete({ type: "ref/resource", uri: "file:///{a}" }, { name: "a", value: "x" }, REQUEST);
  const { items: skills } = await connection.listSkills(REQUEST);
  for (const skill of skills) await connection.readSkillFile(skill, skill.uri, REQUEST);
  await connection.close();
  return { revision, sent: peer.sent };
}

/** A client that is told no revision, at a server of each era. Whatever it is, the first message is of the newer one. */
export async function recordNegotiation(): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  for (const answers of [modernAnswers, legacyAnswers]) {
    const peer = new Peer(answers(() => {}));
    const connection = await open(peer, "auto");
    await connection.ping(REQUEST);
    await connection.close();
    const probes = connection.era === "modern" ? peer.sent : peer.sent.slice(0, 1);
    recorded.push({ revision: "2026-07-28", sent: probes });
    recorded.push({ revision: connection.protocolVersion, sent: peer.sent.slice(probes.length) });
  }
  return recorded;
}

export function open(peer: Peer, protocolVersion: string, handlers: ClientHandlers = HANDLERS): Promise<McpConnection> {
  return connect(async () => peer.transport, {
    protocolVersion,
    clientInfo: CLIENT_INFO,
    timeoutMs: 10_000,
    handlers,
    onClosed: () => {},
  });
}
