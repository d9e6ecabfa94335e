import type { Listing } from "../../src/protocol/connection.ts";
import { RequestCancelled, RequestTimeout, RpcError } from "../../src/protocol/errors.ts";
import { fillIn, type Heard, LIMIT_MS, type OracleClient, ROOTS, SAMPLE, type Target } from "./client.ts";
import { join } from "./join.ts";

export async function ours({ server, era, env, cwd }: Target): Promise<OracleClient> {
  let heard: Heard = { logs: [], asked: [] };
  const connection = await join(
    "url" in server ? { kind: "http", url: server.url, headers: {} } : { kind: "stdio", ...server, env: {} },
    {
      protocolVersion: era === "modern" ? "2026-07-28" : "2025-11-25",
      env,
      cwd,
      handlers: {
        roots: () => ROOTS,
        elicit: {
          modes: ["form", "url"],
          ask: async (request) => {
            heard.asked.push(request);
            return { action: "accept", ...(request.mode === "form" && { content: fillIn(request.schema) }) };
          },
        },
        sample: async (params) => {
          heard.asked.push(params);
          return SAMPLE;
        },
        log: (entry) => heard.logs.push(entry),
      },
    },
  );
  const request = { timeoutMs: LIMIT_MS };
  const items = async (listing: Promise<Listing<unknown>>) => (await listing).items;
  return {
    facts: () => {
      const { protocolVersion, serverInfo, capabilities, instructions } = connection;
      return { protocolVersion, serverInfo, capabilities, instructions };
    },
    listTools: () => items(connection.listTools(request)),
    listResources: () => items(connection.listResources(request)),
    listResourceTemplates: () => items(connection.listResourceTemplates(request)),
    listPrompts: () => items(connection.listPrompts(request)),
    callTool: (name, args, options) => connection.callTool(name, args, { ...request, ...options }),
    readResource: (uri) => connection.readResource(uri, request),
    getPrompt: (name, args = {}) => connection.getPrompt(name, args, request),
    complete: (ref, name, value) => connection.complete(ref, { name, value }, request),
    ping: () => connection.ping(request),
    heard: () => {
      const last = heard;
      heard = { logs: [], asked: [] };
      return last;
    },
    close: () => connection.close(),
  };
}

/** A failure in the words both clients share. */
export function ourFailure(error: unknown): unknown {
  if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data };
  if (error instanceof RequestCancelled) return "cancelled";
  if (error instanceof RequestTimeout) return "timed out";
  return String(error);
}
