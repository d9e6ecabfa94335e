import { expect, test } from "vitest";
import type { Elicitation } from "../protocol/handlers.ts";
import type { JsonObject } from "../protocol/types.ts";
import { elicitThrough } from "./elicitation.ts";

/** What an editor that accepts everything was shown, and what the server was answered. */
async function asked(request: Elicitation, server = "fake") {
  const shown: JsonObject[] = [];
  const elicit = async (params: JsonObject) => {
    shown.push(params);
    return { action: "accept" };
  };
  const through = elicitThrough({ elicit }, { elicits: ["form", "url"], showsNotices: false }, () => "s");
  const answer = await through?.ask(server, request, new AbortController().signal);
  return { shown, answer };
}

const visit = (url: string): Elicitation => ({ mode: "url", message: "Go there", url, elicitationId: "1" });

test.each([
  ["no web", "file:///etc/passwd"],
  ["a script", "javascript:alert(1)"],
  ["no address", "example.com"],
  ["an endless one", `https://example.com/${"a".repeat(2_000)}`],
  ["one with a user", "https://example.com@evil.test/"],
  ["one with a password", "https://:example.com@evil.test/"],
])("an address that is %s is declined, and no editor sees it", async (_what, url) => {
  expect(await asked(visit(url))).toEqual({ shown: [], answer: { action: "decline" } });
});

test("an address of the web is shown as a browser reads it", async () => {
  const { shown, answer } = await asked(visit("https://exam\tple.com/a"));
  expect(answer).toEqual({ action: "accept" });
  expect(shown).toMatchObject([{ sessionId: "s", mode: "url", url: "https://example.com/a", elicitationId: "1" }]);
});

test("what a server says of a form is cleaned, and its names and values stay", async () => {
  const hidden = "\u001b[31m\u202e";
  const schema = {
    type: "object",
    properties: { [`a${hidden}`]: { type: "string", title: `A${hidden}`, default: `b${hidden}` } },
  };
  const { shown } = await asked({ mode: "form", message: `Which?${hidden}`, schema }, `fake${hidden}`);
  const [{ message, requestedSchema } = {}] = shown;
  // The server's name is the person's, and what is odd in it is made visible.
  expect(message).toBe('MCP server "fake?[31m?": Which?');
  expect(requestedSchema).toMatchObject({
    properties: { [`a${hidden}`]: { title: "A", default: `b${hidden}` } },
  });
});
