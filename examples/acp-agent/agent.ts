/**
 * An ACP agent that uses the MCP servers of its editor. In place of a model it reads the prompt: the name of a tool and its
 * arguments as JSON, or `/mcp`. `node agent.ts` speaks ACP on stdin and stdout.
 */
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { type AcpServers, acpMcpCapabilities, connectAcpServers } from "pi-mcp/acp";

const sessions = new Map<string, { readonly servers: AcpServers; turn?: AbortController }>();
let clientCapabilities: unknown;

const app = agent({ name: "example-agent" })
  .onRequest(methods.agent.initialize, ({ params }) => {
    clientCapabilities = params.clientCapabilities;
    return { protocolVersion: 1, agentCapabilities: { mcpCapabilities: acpMcpCapabilities() } };
  })
  .onRequest(methods.agent.session.new, ({ params: { cwd, mcpServers }, client }) => {
    const sessionId = crypto.randomUUID();
    const servers = connectAcpServers(mcpServers, {
      cwd,
      clientCapabilities,
      permission: "ask",
      port: {
        update: (id, update) => client.notify("session/update", { sessionId: id, update }),
        requestPermission: (request) => client.request("session/request_permission", request),
        elicit: (request) => client.request("elicitation/create", request),
      },
    });
    sessions.set(sessionId, { servers });
    // Once the answer is written: an editor drops what is said of a session it does not know.
    setTimeout(() => {
      servers.bind(sessionId);
      const update: SessionUpdate = {
        sessionUpdate: "available_commands_update",
        availableCommands: [servers.availableCommand],
      };
      void client.notify(methods.client.session.update, { sessionId, update });
    });
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw new Error("There is no such session.");
    const { servers } = session;
    session.turn = new AbortController();
    const { signal } = session.turn;
    const update = (content: SessionUpdate) =>
      client.notify(methods.client.session.update, { sessionId, update: content });
    const say = (text: string) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    const text = prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    const stopReason = () => ({ stopReason: signal.aborted ? ("cancelled" as const) : ("end_turn" as const) });

    const command = await servers.command(text);
    if (command !== undefined) return say(command).then(stopReason);
    await servers.ready(signal);
    const [, name = "", args = "{}"] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
    const tool = servers.tools().find((each) => each.name === name);
    if (tool === undefined) {
      const names = servers.tools().map((each) => each.name);
      return say(`Tools: ${names.join(", ")}`).then(stopReason);
    }
    const toolCallId = crypto.randomUUID();
    await update({ sessionUpdate: "tool_call", toolCallId, title: tool.title, kind: tool.kind, status: "in_progress" });
    const answer = await servers.call(name, args, { toolCallId, signal });
    await update({ sessionUpdate: "tool_call_update", toolCallId, status: answer.isError ? "failed" : "completed" });
    for (const block of answer.content) if (block.type === "text") await say(block.text);
    return stopReason();
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.turn?.abort());

const stdin = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), stdin));
await connection.closed;
await Promise.all([...sessions.values()].map(({ servers }) => servers.close()));
