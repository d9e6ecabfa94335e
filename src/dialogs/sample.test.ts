import { describe, expect, it } from "vitest";
import { answering, NEVER } from "./asker.fixture.ts";
import { askSample, readSample, type SampleRequest } from "./sample.ts";

const user = (text: string) => ({ role: "user", content: { type: "text", text } });
const PARAMS = { messages: [user("How many?")], systemPrompt: "Be brief.", maxTokens: 100, temperature: 0.5 };

function ask(params: Record<string, unknown>, answers: readonly (string | undefined)[], text = "Five.") {
  const { asker, shown } = answering(...answers);
  const sent: SampleRequest[] = [];
  const model = {
    name: () => "scripted-1",
    complete: async (request: SampleRequest) => {
      sent.push(request);
      return { text, model: "scripted-1", stopReason: "endTurn" } as const;
    },
  };
  const result = askSample(asker, "hr", params, model, NEVER).catch(
    ({ code, message }: { code: number; message: string }) => ({
      code,
      message,
    }),
  );
  return result.then((value) => ({ result: value, shown, sent }));
}

describe("sampling", () => {
  it("asks before anything is sent to the model, and again before its answer goes to the server", async () => {
    const { result, shown, sent } = await ask(PARAMS, ["Ask the model", "Send it"]);
    expect(result).toEqual({
      role: "assistant",
      content: { type: "text", text: "Five." },
      model: "scripted-1",
      stopReason: "endTurn",
    });
    expect(sent).toEqual([
      { system: "Be brief.", messages: [{ role: "user", text: "How many?" }], maxTokens: 100, temperature: 0.5 },
    ]);
    expect(shown).toEqual([
      {
        text: "MCP server `hr` wants to ask your model (scripted-1, at most 100 tokens):\n\nsystem: Be brief.\nuser: How many?",
        options: ["Deny", "Ask the model"],
      },
      {
        text: "The answer of scripted-1, to be sent to MCP server `hr`:\n\nFive.",
        options: ["Deny", "Send it"],
      },
    ]);
  });

  it.each<[readonly (string | undefined)[], number]>([
    [["Deny"], 0],
    [[undefined], 0],
    [["Ask the model", "Deny"], 1],
    [["Ask the model", undefined], 1],
  ])("answered with %j tells the server no", async (answers, times) => {
    const { result, sent } = await ask(PARAMS, answers);
    expect(result).toEqual({ code: -1, message: "User rejected sampling request" });
    expect(sent.length).toBe(times);
  });

  it("shows what is long page by page, and leaves out what nobody could see", async () => {
    const text = `${"line\n".repeat(50)}\u202eend`;
    const { shown, sent, result } = await ask({ ...PARAMS, messages: [user(text)] }, [
      ...["Show all of it", "Next page", "Next page", "Back to the question", "Ask the model", "Send it"],
    ]);
    expect(result).toHaveProperty("role");
    expect(shown[3]?.text).toMatch(/^Page 3 of 3:[\s\S]*\nend/);
    expect(JSON.stringify(sent)).not.toContain("\u202e");
  });

  it("takes no more tokens than anybody wants to pay for", () => {
    expect(readSample({ ...PARAMS, maxTokens: 1e9 }).maxTokens).toBe(4_096);
    expect(readSample({ ...PARAMS, maxTokens: "many" }).maxTokens).toBe(4_096);
  });

  it.each<[string, object]>([
    ["tools", { ...PARAMS, tools: [{ name: "x" }] }],
    ["an image", { messages: [{ role: "user", content: { type: "image", data: "", mimeType: "image/png" } }] }],
    [
      "one of several that is no text",
      { messages: [{ role: "user", content: [{ type: "text", text: "" }, { type: "audio" }] }] },
    ],
    ["another role", { messages: [{ role: "system", content: { type: "text", text: "" } }] }],
    ["no messages", { messages: [] }],
    ["no list", { messages: "x" }],
    ["what is no object", { messages: [null] }],
    ["a library", { messages: [user("x".repeat(200_000))] }],
  ])("refuses %s before anybody is asked", async (_, params) => {
    const { result, shown } = await ask(params as Record<string, unknown>, []);
    expect(result).toMatchObject({ code: -32602, message: expect.stringMatching(/^Sampling is refused: /) });
    expect(shown).toEqual([]);
  });
});
