/**
 * The client under test, one program for all scenarios: `client.ts pinned|auto <url>`. It joins the server and does what a
 * person's agent could do with it: lists what the server offers, calls every tool, reads every resource, gets every prompt
 * and loads every skill. Only what to call with which arguments, and what not to touch, differs by scenario.
 */
import { argv, env } from "node:process";
import type { McpConnection } from "../../src/protocol/connection.ts";
import { ProtocolError } from "../../src/protocol/errors.ts";
import type { ClientHandlers } from "../../src/protocol/handlers.ts";
import type { JsonObject, ToolDefinition } from "../../src/protocol/types.ts";
import { TransportError } from "../../src/transport/transport.ts";
import { join } from "../oracle/join.ts";
import { mustRefuse, signsIn } from "./sign-in.ts";

/** Servers that list a tool and cannot call it. */
const CALLS_NOTHING = new Set(["json-schema-ref-no-deref"]);
/** Skills are listed, and nobody has asked to load one. */
const LOADS_NOTHING = new Set(["sep-2640-client-no-prefetch"]);

const [, , mode = "auto", url = ""] = argv;
const scenario = env.MCP_CONFORMANCE_SCENARIO ?? "";
const request = { timeoutMs: 10_000 };

/** A person who agrees to everything and types nothing. */
const handlers: ClientHandlers = {
  roots: () => [{ uri: "file:///work", name: "work" }],
  elicit: { modes: ["form", "url"], ask: async () => ({ action: "accept", content: {} }) },
  sample: async () => ({ role: "assistant", content: { type: "text", text: "A summary." }, model: "scripted" }),
  log: (entry) => console.log("log", entry),
  notice: (text) => console.log("notice", text),
};

try {
  await main();
} catch (error) {
  console.error(error);
  // The last line is what the table of results shows.
  console.error(String(error));
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const target = { kind: "http", url, headers: {} } as const;
  const signIn = scenario.startsWith("auth/") ? signsIn(target, scenario) : undefined;
  const protocolVersion = mode === "pinned" ? (env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "auto") : "auto";
  try {
    await converse(await join(target, { protocolVersion, handlers, auth: signIn?.auth }));
  } catch (error) {
    if (!mustRefuse(scenario) || !isRefusal(error)) throw error;
    console.log("refused", String(error));
  } finally {
    signIn?.end();
  }
}

/** To sign in was refused, and nothing else went wrong. */
function isRefusal(error: unknown): boolean {
  return error instanceof TransportError && error.failure === "unauthorized";
}

async function converse(connection: McpConnection): Promise<void> {
  try {
    const { era, protocolVersion, serverInfo, capabilities } = connection;
    console.log("connected", era, protocolVersion, serverInfo, capabilities);
    await use(connection);
  } finally {
    await connection.close();
  }
}

async function use(server: McpConnection): Promise<void> {
  await server.ping(request);
  if ("tools" in server.capabilities) await useTools(server);
  if ("resources" in server.capabilities) {
    const { items } = await server.listResources(request);
    for (const { uri } of items) console.log("resource", uri, await server.readResource(uri, request));
  }
  if ("prompts" in server.capabilities) {
    const { items } = await server.listPrompts(request);
    for (const { name } of items) console.log("prompt", name, await server.getPrompt(name, {}, request));
  }
  await useSkills(server);
}

/** All calls at once: none may get into another's way. */
async function useTools(server: McpConnection): Promise<void> {
  const { items: tools, notices } = await server.listTools(request);
  console.log(
    "tools",
    tools.map(({ name }) => name),
    notices,
  );
  if (CALLS_NOTHING.has(scenario)) return;
  await Promise.all(
    tools.map(async (tool) => {
      console.log("result", tool.name, await server.callTool(tool.name, argumentsFor(tool, tools), request));
    }),
  );
}

/** A skill is loaded with all its files, or not at all: one that is not what its entry says is let go. */
async function useSkills(server: McpConnection): Promise<void> {
  const { items: skills, notices } = await server.listSkills(request);
  console.log("skills", skills, notices);
  if (LOADS_NOTHING.has(scenario)) return;
  for (const skill of skills) {
    const files = skill.files === "dynamic" ? [] : skill.files.map(({ uri }) => uri);
    try {
      for (const uri of new Set([skill.uri, ...files])) {
        console.log("file", uri, (await server.readSkillFile(skill, uri, request)).length);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      console.log("refused", skill.uri, error.message);
    }
  }
}

/** What the suite names for this tool, else something for each property its schema has. */
function argumentsFor(tool: ToolDefinition, tools: readonly ToolDefinition[]): JsonObject {
  const context = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
    toolCalls?: { name: string; arguments: JsonObject }[];
  };
  const named = context.toolCalls?.find(({ name }) => name === tool.name);
  if (named) return named.arguments;
  // It has to be given the schema of the other tool, as it came.
  if (tool.name === "json_schema_echo") return { schema: tools.find((other) => other !== tool)?.inputSchema };
  const properties = Object.entries((tool.inputSchema.properties ?? {}) as Record<string, JsonObject>);
  return Object.fromEntries(properties.map(([name, { type }]) => [name, sampleOf(type)]));
}

function sampleOf(type: unknown): unknown {
  if (type === "number" || type === "integer") return 5;
  if (type === "boolean") return true;
  return type === "object" ? {} : "text";
}
