import { expect, test } from "vitest";
import { readAcpServers } from "../../src/config/acp.ts";
import type { Elicitation } from "../../src/protocol/handlers.ts";
import { createSession } from "../../src/session/create-session.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { mcp } from "./open.ts";

const SECRET = "sk-planted-4711-planted";

test("what a server asks of a person or of their model quotes no configured secret; the names of a form's fields stay", async () => {
  await using home = await temporaryHome();
  const properties = { [SECRET]: { type: "string", title: `Key ${SECRET}` }, region: { type: "string" } };
  const form = { message: `Is ${SECRET} right?`, requestedSchema: { type: "object", properties } };
  const sample = { messages: [{ role: "user", content: { type: "text", text: `Say ${SECRET}` } }], maxTokens: 9 };
  const server = await fakeStdio(home, {
    on: {
      "tools/call": [
        { ask: { method: "elicitation/create", params: form }, echo: true },
        { ask: { method: "sampling/createMessage", params: sample }, echo: true },
      ],
    },
  });
  const { command, args } = server;
  const { servers, problems } = readAcpServers([
    { name: "fake", command, args, env: [{ name: "KEY", value: SECRET }] },
  ]);
  const config = {
    problems,
    servers: servers.map((each) => ({ ...each, policy: { ...each.policy, offersSampling: true } })),
  };
  const asked: unknown[] = [];
  const elicit = {
    modes: ["form" as const],
    ask: async (_: string, request: Elicitation) => {
      asked.push(request);
      return { action: "accept" as const, content: { [SECRET]: "a" } };
    },
  };
  await using session = createSession(
    config,
    { env: home.env(), cwd: home.cwd },
    {
      elicit,
      sample: async (_, params) => {
        asked.push(params);
        return { role: "assistant", content: { type: "text", text: "ok" }, model: "m" };
      },
    },
  );
  for (let round = 0; round < 2; round++) await mcp(session, { action: "call", server: "fake", tool: "echo" });
  expect(asked).toMatchObject([
    { mode: "form", schema: { properties: { [SECRET]: { type: "string" }, region: { type: "string" } } } },
    { maxTokens: 9, messages: [{ role: "user" }] },
  ]);
  const texts = JSON.stringify(asked).replace(`"${SECRET}":{`, "");
  expect(texts).not.toContain(SECRET);
});
