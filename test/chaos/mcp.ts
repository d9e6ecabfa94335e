/** Tools by what they say of being run twice. */
export const TOOLS = {
  undeclared: {},
  harmless: { readOnlyHint: true },
  idempotent: { idempotentHint: true, destructiveHint: false },
  destructive: { destructiveHint: true },
} as const;

export type ToolName = keyof typeof TOOLS;

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly call?: string }; readonly protocolVersion?: string };
}

/** The answer to everything but a call; `undefined` for what is not answered. */
export function usualAnswer({ id, method, params }: Message): object | undefined {
  if (id === undefined) return undefined;
  switch (method) {
    case "initialize":
      return answer(id, {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "chaos", version: "1" },
      });
    case "tools/list":
      return answer(id, {
        tools: Object.entries(TOOLS).map(([name, annotations]) => ({
          name,
          inputSchema: { type: "object" },
          annotations,
        })),
      });
    case "ping":
    case "shutdown":
      return answer(id, {});
    default:
      return failure(id, -32601, "no such method");
  }
}

export function answer(id: unknown, result: object): object {
  return { jsonrpc: "2.0", id, result };
}

export function failure(id: unknown, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

export function textResult(text: string, isError = false): object {
  return { content: [{ type: "text", text }], isError };
}
