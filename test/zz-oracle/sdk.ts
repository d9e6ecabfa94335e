import {
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import type { JsonValue } from "@modelcontextprotocol/ext-tasks/core";
import { fillIn, type Heard, LIMIT_MS, type OracleClient, ROOTS, SAMPLE, type Target } from "./client.ts";
import { callResult, completion, contents, prompt, promptResult, resource, template, tool } from "./normal.ts";

const OPTIONS: ClientOptions = {
  capabilities: { roots: {}, sampling: {}, elicitation: { form: { applyDefaults: true }, url: {} } },
};

export async function sdk({ server, era, env, cwd }: Target): Promise<OracleClient> {
  let heard: Heard = { logs: [], asked: [] };
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "oracle", version: "1.0.0" }, { ...OPTIONS, versionNegotiation: { mode } });
  client.setRequestHandler("roots/list", () => ({ roots: ROOTS }));
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const { mode = "form", message } = params;
    const form = "requestedSchema" in params;
    heard.asked.push(form ? { mode, message, schema: params.requestedSchema } : { ...params, _meta: undefined });
    return { action: "accept", ...(form && { content: fillIn(params.requestedSchema) }) };
  });
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    heard.asked.push(params);
    return SAMPLE;
  });
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
    heard.logs.push({ level, logger, data });
  });
  await client.connect(
    "url" in server
      ? new StreamableHTTPClientTransport(new URL(server.url))
      : new StdioClientTransport({
          ...server,
          args: [...server.args],
          env: env as Record<string, string>,
          cwd,
          stderr: "ignore",
        }),
  );
  const request = { timeout: LIMIT_MS };
  /** Tools that only run as tasks, which takes the SDK's own extension package. */
  const onlyAsTask = new Set<string>();
  const callAsTask = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
    const session = createTaskSessionFromClient(client, { endpointId: "oracle" });
    try {
      const { outcome } = await (await session.callTool(name, args as Record<string, JsonValue>)).settle();
      return resultFromTaskOutcome(outcome);
    } finally {
      await session.close();
    }
  };
  return {
    facts: () => ({
      protocolVersion: client.getNegotiatedProtocolVersion(),
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    }),
    listTools: async () => {
      const { tools } = await client.listTools({}, request);
      for (const { name, execution } of tools) if (execution?.taskSupport === "required") onlyAsTask.add(name);
      return tools.map(tool);
    },
    listResources: async () => (await client.listResources({}, request)).resources.map(resource),
    listResourceTemplates: async () =>
      (await client.listResourceTemplates({}, request)).resourceTemplates.map(template),
    listPrompts: async () => (await client.listPrompts({}, request)).prompts.map(prompt),
    callTool: async (name, args, { signal, timeoutMs = LIMIT_MS, onProgress } = {}) => {
      if (onlyAsTask.has(name)) return callResult(await callAsTask(name, args));
      const options = {
        timeout: timeoutMs,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      };
      return callResult(await client.callTool({ name, ...(args && { arguments: { ...args } }) }, options));
    },
    readResource: async (uri) => (await client.readResource({ uri }, request)).contents.map(contents),
    getPrompt: async (name, args = {}) => promptResult(await client.getPrompt({ name, arguments: args }, request)),
    complete: async (ref, name, value) =>
      completion(await client.complete({ ref, argument: { name, value } }, request)),
    ping: async () => {
      // `ping` is gone from the newer revision; this is what it has to ask whether a server lives.
      await (era === "modern" ? client.discover(request) : client.ping(request));
    },
    heard: () => {
      const last = heard;
      heard = { logs: [], asked: [] };
      return last;
    },
    close: () => client.close(),
  };
}

/** A failure in the words both clients share. */
export function sdkFailure(error: unknown): unknown {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message, data: error.data };
  // One code for both; what the caller aborted carries the caller's reason.
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return error.message.startsWith("AbortError") ? "cancelled" : "timed out";
  }
  return String(error);
}
