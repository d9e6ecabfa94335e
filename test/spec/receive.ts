import type { McpConnection } from "../../src/protocol/connection.ts";
import type { ClientHandlers, Elicitation } from "../../src/protocol/handlers.ts";
import { type Answer, Peer, Refusal, SILENCE } from "./peer.ts";
import { HANDLERS, open, REQUEST } from "./session.ts";

// biome-ignore lint/suspicious/noExplicitAny: an example is whatever its type says, and each row below knows its own.
type Example = any;

/** What the specification's example says, and what arrived at the other end of a connection. */
interface Received {
  readonly expected: unknown;
  readonly actual: unknown;
  /** Where the server's own object is kept, for the fields that are not named. */
  readonly raw?: unknown;
}

export type Receive = (example: Example) => Promise<Received>;

export const META_INFO = "io.modelcontextprotocol/serverInfo";

async function connected(
  answers: Readonly<Record<string, Answer>>,
  handlers: ClientHandlers = HANDLERS,
  discovered: object = {},
): Promise<{ peer: Peer; connection: McpConnection }> {
  const capabilities = { tools: { listChanged: true }, resources: {}, prompts: { listChanged: true } };
  const peer = new Peer({
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities, ...discovered }),
    "subscriptions/listen": () => SILENCE,
    ...answers,
  });
  return { peer, connection: await open(peer, "2026-07-28", handlers) };
}

/** An example that is a whole response arrives as its result does. */
export function inResponse(receive: Receive): Receive {
  return ({ result }) => receive(result);
}

/** The items of a listing, and that its cursor leads to the next page. */
function listing(
  method: string,
  key: string,
  list: (connection: McpConnection) => Promise<{ items: readonly { raw: unknown }[] }>,
): Receive {
  return async (result) => {
    const cursors: unknown[] = [];
    const { connection } = await connected({
      [method]: ({ cursor }) => {
        cursors.push(cursor);
        return cursor === undefined ? result : { [key]: [] };
      },
    });
    const { items } = await list(connection);
    const pages = result.nextCursor === undefined ? [undefined] : [undefined, result.nextCursor];
    return {
      expected: { items: result[key], cursors: pages },
      actual: { items, cursors },
      raw: { items: items.map(({ raw }) => raw) },
    };
  };
}

export const tools = listing("tools/list", "tools", (connection) => connection.listTools(REQUEST));
export const resources = listing("resources/list", "resources", (connection) => connection.listResources(REQUEST));
export const templates = listing("resources/templates/list", "resourceTemplates", (connection) =>
  connection.listResourceTemplates(REQUEST),
);
export const prompts = listing("prompts/list", "prompts", (connection) => connection.listPrompts(REQUEST));

/** One item of a listing, as a listing of one. */
export function item(receive: Receive, key: string): Receive {
  return (example) => receive({ [key]: [example] });
}

export const callResult: Receive = async (result) => {
  const { connection } = await connected({ "tools/call": () => result });
  const actual = await connection.callTool("t", {}, REQUEST);
  const { resultType: _, ...expected } = result;
  return { expected, actual, raw: actual.raw };
};

/** A block of a tool's result. An embedded resource is flat in ours. */
export const block: Receive = async (example) => {
  const { raw, actual } = await callResult({ content: [example] });
  const { resource, ...rest } = example;
  const { content } = actual as { content: unknown[] };
  return { expected: { ...rest, ...resource }, actual: content[0], raw: (raw as { content: unknown[] }).content[0] };
};

export const contents: Receive = async (result) => {
  const { connection } = await connected({ "resources/read": () => result });
  return { expected: result.contents, actual: await connection.readResource("file:///x", REQUEST) };
};

export const promptResult: Receive = async (result) => {
  const { connection } = await connected({ "prompts/get": () => result });
  const actual = await connection.getPrompt("p", {}, REQUEST);
  const messages = result.messages.map(({ role, content }: Example) => ({ role, content: [content].flat() }));
  return { expected: { description: result.description, messages }, actual, raw: actual.raw };
};

export const completion: Receive = async (result) => {
  const { connection } = await connected({ "completion/complete": () => result });
  const actual = await connection.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }, REQUEST);
  return { expected: result.completion, actual };
};

export const discovery: Receive = async (result) => {
  const { connection } = await connected({}, HANDLERS, result);
  const { capabilities, instructions, serverInfo } = connection;
  const expected = { capabilities: result.capabilities, serverInfo: result._meta[META_INFO] };
  return {
    expected: { ...expected, ...(result.instructions && { instructions: result.instructions }) },
    actual: { capabilities, instructions, serverInfo },
  };
};

/** Questions inside a result: what of them reaches the host, and what of the state comes back. */
export const inputRequired: Receive = async (result) => {
  const asked: unknown[] = [];
  const retries: Example[] = [];
  const handlers: ClientHandlers = {
    ...HANDLERS,
    roots: () => {
      asked.push(undefined);
      return [];
    },
    elicit: {
      modes: ["form", "url"],
      ask: async (request) => {
        asked.push(asWritten(request));
        return { action: "decline" };
      },
    },
    sample: async (params) => {
      asked.push(params);
      return { role: "assistant", content: { type: "text", text: "" }, model: "m" };
    },
  };
  const { connection } = await connected(
    {
      "tools/call": (params) => {
        retries.push(params);
        return retries.length > 1 ? { content: [] } : { resultType: "input_required", ...result };
      },
    },
    handlers,
  );
  await connection.callTool("t", {}, REQUEST);
  const questions: [string, Example][] = Object.entries(result.inputRequests ?? {});
  const { requestState, inputResponses } = retries[1] ?? {};
  return {
    expected: {
      asked: questions.map(([, { params }]) => (params?.requestedSchema ? { mode: "form", ...params } : params)),
      state: result.requestState,
      answered: questions.map(([key]) => key),
    },
    actual: { asked, state: requestState, answered: Object.keys(inputResponses ?? {}) },
  };
};

/** Our record of a question with the specification's names. */
function asWritten(request: Elicitation): unknown {
  return request.mode === "form" ? { ...request, requestedSchema: request.schema } : request;
}

export const question: Receive = ({ method, params }) => inputRequired({ inputRequests: { q: { method, params } } });
export const elicitation: Receive = (params) => question({ method: "elicitation/create", params });
export const sampling: Receive = (params) => question({ method: "sampling/createMessage", params });
/** A field of a form. */
export const field: Receive = (schema) =>
  elicitation({ message: "m", requestedSchema: { type: "object", properties: { a: schema } } });

/** Notifications: what a handler is told, once one has arrived. */
function told(
  handler: (tell: (value: unknown) => void) => Partial<ClientHandlers>,
  expect: (params: Example) => unknown,
  toMessage: (example: Example) => { method: string; params: Example } = (example) => example,
): Receive {
  return async (example) => {
    const { method, params } = toMessage(example);
    const heard = await new Promise<unknown>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("nobody was told")), 2_000);
      const tell = (value: unknown) => {
        clearTimeout(late);
        resolve(value);
      };
      connected({}, { ...HANDLERS, ...handler(tell) }).then(({ peer }) => peer.notify(method, params), reject);
    });
    return { expected: expect(params), actual: heard };
  };
}

export const logged = (toMessage?: (example: Example) => { method: string; params: Example }) =>
  told(
    (tell) => ({ log: tell }),
    (params) => params,
    toMessage,
  );
export const changed = (list: string) =>
  told(
    (tell) => ({ listChanged: tell }),
    () => list,
  );

/** Nothing watches a single resource, so a server has no cause to say this; it costs nothing when it does. */
export const unheard: Receive = async ({ method, params }) => {
  const { peer, connection } = await connected({});
  peer.notify(method, params);
  await connection.ping(REQUEST);
  return { expected: "alive", actual: "alive" };
};

export const progress: Receive = async ({ progressToken: _, ...expected }) => {
  const heard: unknown[] = [];
  const { connection } = await connected({
    "tools/call": ({ _meta }, peer) => {
      const { progressToken } = _meta as Example;
      peer.notify("notifications/progress", { ...expected, progressToken });
      return { content: [] };
    },
  });
  await connection.callTool("t", {}, { ...REQUEST, onProgress: (each) => heard.push(each) });
  return { expected: [expected], actual: heard };
};

/** The server takes a request of its own back, which only revisions with such requests have. */
export const cancelled: Receive = async ({ requestId, reason }) => {
  const peer = new Peer({ initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: {} }) });
  const aborted = new Promise((resolve) => {
    const ask = (_: unknown, signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener("abort", () => resolve("aborted")));
    void open(peer, "2025-11-25", { elicit: { modes: ["form"], ask } }).then(() => {
      void peer.ask("elicitation/create", { message: "m", requestedSchema: {} }, requestId);
      peer.notify("notifications/cancelled", { requestId, reason });
    });
  });
  return { expected: "aborted", actual: await aborted };
};

/** What of the wish is not granted is told. */
export const acknowledged: Receive = async ({ params }) => {
  const notices: string[] = [];
  const { connection } = await connected(
    {
      "subscriptions/listen": (_, peer, id) => {
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        peer.notify("notifications/subscriptions/acknowledged", { ...params, _meta });
        return SILENCE;
      },
    },
    { ...HANDLERS, notice: (text) => notices.push(text) },
  );
  await connection.ping(REQUEST);
  return { expected: [true], actual: notices.map((text) => text.includes("prompts") && !text.includes("tools")) };
};

/** The end of a subscription costs nothing else. */
export const subscriptionOver: Receive = async (result) => {
  const { connection } = await connected({ "subscriptions/listen": () => result });
  await connection.ping(REQUEST);
  return { expected: "alive", actual: "alive" };
};

export const failure: Receive = async (error) => {
  const { connection } = await connected({
    "prompts/get": () => new Refusal(error.code, error.message, error.data),
  });
  const actual = await connection.getPrompt("p", {}, REQUEST).catch((failure: unknown) => failure);
  const { code, message, data } = actual as Example;
  return { expected: error, actual: { code, message, data } };
};
export const failureResponse: Receive = ({ error }) => failure(error);
