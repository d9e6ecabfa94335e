/** How a server that tells everything tells it. */
export type Mode =
  | "results"
  | "tool errors"
  | "refused arguments"
  | "errors"
  | "invalid arguments"
  | "unknown tool"
  | "definitions"
  | "refused start"
  | "odd version"
  | "refused list"
  | "huge"
  | "silent"
  | "slow"
  | "changes"
  | "asks";

type Params = Record<string, unknown> | undefined;
type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

const text = (...texts: string[]) => texts.map((each) => ({ type: "text", text: each }));

/** The answers of a server that speaks the older protocol right, but for what its mode says. */
export function answers(mode: Mode, all: string) {
  const refusal = (code: number): Answer => ({ error: { code, message: all, data: { all } } });
  const schema = {
    type: "object",
    title: all,
    properties: {
      path: { type: "string", description: all, default: all, examples: [all] },
      [all.slice(0, 4000)]: { type: "string" },
      kind: { enum: ["a", all], const: all },
    },
    required: ["path"],
    "x-all": { [all]: all },
    $comment: all,
  };
  const spoken = {
    title: all,
    description: all,
    inputSchema: schema,
    outputSchema: schema,
    annotations: { title: all },
  };
  const plain = {
    description: "Reads a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  };
  const isSpoken = mode === "definitions" || mode === "refused arguments";
  const tools = [
    { name: "read", ...(isSpoken ? { ...spoken, _meta: { all } } : plain) },
    ...(isSpoken
      ? [
          { name: all.slice(0, 3000), ...plain },
          { name: "", description: all },
          { name: all, inputSchema: { type: "string" } },
          all,
        ]
      : []),
    ...(isSpoken ? all.split("\n").map((line) => ({ name: line.slice(0, 500), ...plain })) : []),
  ];
  const server = {
    name: "echo",
    version: "1",
    ...(isSpoken && { name: all, version: all, title: all, description: all }),
  };

  const result = () => ({
    content: [
      ...text(all, "done"),
      { type: "resource_link", uri: `file:///${encodeURIComponent(all)}`, name: all, description: all, mimeType: all },
      { type: "resource", resource: { uri: `x://${all}`, mimeType: "text/plain", text: all } },
      {
        type: "resource",
        resource: { uri: `x://${all}`, mimeType: "text/plain", blob: Buffer.from(all).toString("base64") },
      },
      { type: "image", mimeType: all, data: Buffer.from(all).toString("base64") },
      { type: "audio", mimeType: "audio/wav", data: all },
      { type: all, [all]: all },
    ],
    structuredContent: { all, [all]: [all, { all }] },
    _meta: { all },
    isError: mode === "tool errors",
  });

  function called(): Answer | undefined {
    switch (mode) {
      case "errors":
        return refusal(-32000);
      case "invalid arguments":
        return refusal(-32602);
      case "unknown tool":
        return { error: { code: -32602, message: `Unknown tool: ${all}` } };
      case "refused arguments":
        return { result: { content: text(`Input validation error: ${all}`), isError: true } };
      case "huge":
        return { result: { content: text(`${all}\n`.repeat(1 + Math.ceil(300_000 / all.length))) } };
      case "silent":
        return undefined;
      default:
        return { result: result() };
    }
  }

  function answer(method: string, _params: Params): Answer | undefined {
    switch (method) {
      case "initialize":
        if (mode === "refused start") return refusal(-32603);
        return {
          result: {
            protocolVersion: mode === "odd version" ? all : "2025-06-18",
            capabilities: { tools: { listChanged: true }, logging: {}, ...(isSpoken && { [all]: {} }) },
            serverInfo: server,
            ...(isSpoken && { instructions: all }),
          },
        };
      case "tools/list":
        return mode === "refused list" ? refusal(-32000) : { result: { tools } };
      case "tools/call":
        return called();
      case "ping":
        return { result: {} };
      default:
        return refusal(-32601);
    }
  }

  /** What it says before it answers. */
  function before(method: string, params: Params): object[] {
    if (method !== "tools/call") return [];
    const progressToken = (params?._meta as Record<string, unknown> | undefined)?.progressToken;
    return [
      ...(progressToken === undefined
        ? []
        : [{ method: "notifications/progress", params: { progressToken, progress: 1, message: all } }]),
      { method: "notifications/message", params: { level: "error", logger: all, data: { all } } },
      { method: `notifications/${all}`, params: { all } },
      { id: 99_999, result: { all } },
      ...(mode === "changes" ? [{ method: "notifications/tools/list_changed" }] : []),
      ...(mode === "asks" ? [{ id: "q", method: all, params: { all } }] : []),
    ];
  }

  return { answer, before };
}
