import { describe, expect, it } from "vitest";
import type { Elicitation } from "../protocol/handlers.ts";
import { answering, NEVER } from "./asker.fixture.ts";
import { createDialogs } from "./dialogs.ts";
import { askElicitation } from "./elicit.ts";

const form = (properties: object, required: string[] = []): Elicitation => ({
  mode: "form",
  message: "Who are you?",
  schema: { type: "object", properties: properties as Record<string, unknown>, required },
});

const visit = (url: string): Elicitation => ({ mode: "url", message: "Please sign in.", url, elicitationId: "1" });

function ask(request: Elicitation, answers: readonly (string | undefined)[], opens = true) {
  const { asker, shown } = answering(...answers);
  const opened: string[] = [];
  const open = (address: string) => opens && opened.push(address) > 0;
  return askElicitation(asker, "hr", request, open, NEVER).then((answer) => ({ answer, shown, opened }));
}

const accepted = (content: object) => ({ action: "accept", content });

describe("a form", () => {
  it("names the server, says what is wanted, and sends nothing that was not seen together", async () => {
    const request = form({ name: { type: "string", title: "Your name" }, age: { type: "integer" } }, ["name"]);
    const { answer, shown } = await ask(request, ["Answer", "Ada", "", "Send"]);
    expect(answer).toEqual(accepted({ name: "Ada" }));
    expect(shown.map(({ text }) => text)).toEqual([
      "MCP server `hr` asks you:\nWho are you?\n\nIt wants: Your name, age (optional)",
      "Your name, for MCP server `hr`",
      "age (optional), for MCP server `hr`\nExpected: a whole number\nEnter alone: (leave empty)",
      'Send this to MCP server `hr`?\n  1. Your name: "Ada"\n  2. age: (left empty)',
    ]);
    expect(shown[0]?.options).toEqual(["Answer", "Decline"]);
    expect(shown[3]?.options).toEqual(["Send", "Decline", "Change 1: Your name", "Change 2: age"]);
  });

  it.each<[string, unknown, readonly (string | undefined)[], object]>([
    ["a yes", { type: "boolean" }, ["Yes"], { f: true }],
    ["a no", { type: "boolean" }, ["No"], { f: false }],
    ["nothing", { type: "boolean" }, ["(leave empty)"], {}],
    ["a number", { type: "number" }, [" 1.5 "], { f: 1.5 }],
    ["a text as it was typed", { type: "string" }, [" a "], { f: " a " }],
    ["one of some", { type: "string", enum: ["a", "b"] }, ["b"], { f: "b" }],
    ["one of some with names", { type: "string", enum: ["a", "b"], enumNames: ["A!", "B!"] }, ["B!"], { f: "b" }],
    [
      "one of some with titles",
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
      ["B"],
      { f: "b" },
    ],
    [
      "one of two that look alike",
      {
        type: "string",
        oneOf: [
          { const: "a", title: "X" },
          { const: "b", title: "X" },
        ],
      },
      ["X (2)"],
      { f: "b" },
    ],
    [
      "several",
      { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
      ["[ ] c", "[ ] a", "[ ] b", "[x] b", "Done"],
      { f: ["a", "c"] },
    ],
    [
      "several with titles",
      { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
      ["[ ] A", "Done"],
      { f: ["a"] },
    ],
    ["none of several", { type: "array", items: { enum: ["a"] } }, ["Done"], {}],
    ["an e-mail address", { type: "string", format: "email" }, ["a@b.c"], { f: "a@b.c" }],
  ])("takes %s", async (_, property, answers, content) => {
    const { answer } = await ask(form({ f: property }), ["Answer", ...answers, "Send"]);
    expect(answer).toEqual(accepted(content));
  });

  it.each<[string, unknown, string, string, string]>([
    ["a number", { type: "number", minimum: 2, maximum: 3 }, "1", "It must not be less than 2.", "2"],
    ["a number", { type: "number", maximum: 3 }, "4", "It must not be more than 3.", "3"],
    ["a number", { type: "number" }, "one", "It must be a number.", "1"],
    ["a whole number", { type: "integer" }, "1.5", "It must be a whole number.", "1"],
    ["a text", { type: "string", minLength: 2 }, "a", "It must have at least 2 characters, not 1.", "ab"],
    ["a text", { type: "string", maxLength: 2 }, "👍👍👍", "It must have at most 2 characters, not 3.", "👍👍"],
    ["an e-mail address", { type: "string", format: "email" }, "ada", "It must be an e-mail address.", "a@b"],
    ["an address", { type: "string", format: "uri" }, "example", "It must be a complete address", "https://a.b"],
    ["a date", { type: "string", format: "date" }, "2026-02-30", "It must be a date", "2026-02-28"],
    [
      "a time",
      { type: "string", format: "date-time" },
      "2026-01-01",
      "It must be a date with a time",
      "2026-01-01T00:00:00Z",
    ],
    ["what is required", { type: "string" }, "", "It must not be empty.", "x"],
  ])("asks for %s again, with the reason", async (_, property, wrong, problem, right) => {
    const { answer, shown } = await ask(form({ f: property }, ["f"]), ["Answer", wrong, right, "Send"]);
    expect(answer.action).toBe("accept");
    expect(shown[2]?.text).toContain(problem);
  });

  it("asks again for several that are too few", async () => {
    const property = { type: "array", items: { enum: ["a", "b"] }, minItems: 1 };
    const { answer, shown } = await ask(form({ f: property }, ["f"]), ["Answer", "Done", "[ ] a", "Done", "Send"]);
    expect(answer).toEqual(accepted({ f: ["a"] }));
    expect(shown[2]?.text).toContain("Choose at least 1.");
  });

  it("shows the server's default and leaves it to the server", async () => {
    const request = form({ a: { type: "string", default: "x" }, b: { type: "boolean", default: true } }, ["a"]);
    const { answer, shown } = await ask(request, ["Answer", "", "(as the server has it: true)", "Send"]);
    expect(answer).toEqual(accepted({}));
    expect(shown[3]?.text).toContain("1. a: \"x\" (the server's default)\n  2. b: true (the server's default)");
  });

  it("lets what was said be changed, also to nothing", async () => {
    const request = form({ a: { type: "string" }, b: { type: "string" } });
    const { answer } = await ask(request, ["Answer", "1", "2", "Change 1: a", "", "Change 2: b", "3", "Send"]);
    expect(answer).toEqual(accepted({ b: "3" }));
  });

  it.each<[string, readonly (string | undefined)[], string]>([
    ["declined at once", ["Decline"], "decline"],
    ["declined at the end", ["Answer", "x", "Decline"], "decline"],
    ["dismissed at once", [undefined], "cancel"],
    ["dismissed while it is filled in", ["Answer", undefined], "cancel"],
    ["dismissed at the end", ["Answer", "x", undefined], "cancel"],
    ["answered by a machine", ["Answer", ...Array.from({ length: 10 }, () => "")], "cancel"],
  ])("that is %s", async (_, answers, action) => {
    const { answer } = await ask(form({ a: { type: "string" } }, ["a"]), answers);
    expect(answer).toEqual({ action });
  });

  it("without fields is a yes or a no, and a stray Enter is a no", async () => {
    const { answer, shown } = await ask(form({}), ["Accept"]);
    expect([answer, shown[0]?.options]).toEqual([accepted({}), ["Decline", "Accept"]]);
  });

  it.each<[string, object]>([
    ["an object", { a: { type: "object" } }],
    ["a list of anything", { a: { type: "array", items: { type: "number" } } }],
    ["no kind at all", { a: {} }],
    ["choices without end", { a: { type: "string", enum: Array.from({ length: 500 }, (_, n) => `${n}`) } }],
    ["fields without end", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, { type: "string" }]))],
  ])("with %s is no form, which is said", async (_, properties) => {
    const { answer, shown } = await ask(form(properties), ["Decline"]);
    expect(answer).toEqual({ action: "decline" });
    expect(shown[0]?.text).toContain("so it cannot be answered here");
  });

  it("shows many options some at a time", async () => {
    const options = Array.from({ length: 30 }, (_, n) => `option ${n}`);
    const request = form({ a: { type: "string", enum: options } }, ["a"]);
    const { answer, shown } = await ask(request, ["Answer", "More…", "More…", "More…", "More…", "option 15", "Send"]);
    expect(answer).toEqual(accepted({ a: "option 15" }));
    expect(Math.max(...shown.map(({ options = [] }) => options.length))).toBe(13);
  });

  it("holds nothing a terminal would obey, and no more of the server's words than fit", async () => {
    const evil = `\u001b]52;c;x\u0007\u202e${"x\n".repeat(5_000)}`;
    const request = form({ [evil]: { type: "string", title: evil, description: evil, enum: [evil, `${evil}2`] } });
    const { shown } = await ask({ ...request, message: evil }, ["Answer", undefined]);
    for (const { text, options = [] } of shown) {
      expect(text + options.join("")).not.toMatch(/[^\P{C}\n]/u);
      expect(text.length).toBeLessThan(2_000);
      expect(text.split("\n").length).toBeLessThan(25);
    }
  });

  it("keeps names that are no usual ones", async () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}');
    const { answer } = await ask({ mode: "form", message: "", schema }, ["Answer", "a", "b", "Send"]);
    expect(JSON.stringify(answer)).toBe('{"action":"accept","content":{"__proto__":"a","constructor":"b"}}');
  });
});

describe("an address", () => {
  it("is shown with where it leads, and opened only then", async () => {
    const { answer, shown, opened } = await ask(visit("https://login.example.com/a?b=c"), ["Open it in the browser"]);
    expect([answer, opened]).toEqual([{ action: "accept" }, ["https://login.example.com/a?b=c"]]);
    expect(shown[0]?.text).toBe(
      "MCP server `hr` wants you to open an address:\nPlease sign in.\n\n  https://login.example.com/a?b=c\n\nIt leads to: login.example.com",
    );
    expect(shown[0]?.options).toEqual(["Decline", "Open it in the browser", "I open it myself"]);
  });

  it.each<[string | undefined, string]>([
    ["Decline", "decline"],
    [undefined, "cancel"],
    ["something else", "cancel"],
    ["I open it myself", "accept"],
  ])("is not opened by %s", async (said, action) => {
    const { answer, opened } = await ask(visit("https://example.com/"), [said]);
    expect([answer, opened]).toEqual([{ action }, []]);
  });

  it("is shown for another computer where there is no browser", async () => {
    const request = visit("https://example.com/");
    const { answer, shown } = await ask(request, ["Open it in the browser", "I open it myself"], false);
    expect(answer).toEqual({ action: "accept" });
    expect(shown[1]?.text).toContain("Open this address on any computer:\n\n  https://example.com/".replace("  ", ""));
    const { answer: dismissed } = await ask(request, ["Open it in the browser", undefined], false);
    expect(dismissed).toEqual({ action: "cancel" });
  });

  it.each<[string, string]>([
    ["https://раураl.com/", "It leads to: xn--"],
    ["https://раураl.com/", "it can look like another name"],
    ["https://paypal.com@evil.example/", "It leads to: evil.example"],
    ["https://paypal.com@evil.example/", "what stands before the @ is not where it leads"],
    ["http://example.com/", "not encrypted"],
  ])("%s is warned of: %s", async (url, warning) => {
    const { shown } = await ask(visit(url), ["Decline"]);
    expect(shown[0]?.text).toContain(warning);
  });

  it("of this computer is not warned of", async () => {
    const { shown } = await ask(visit("http://localhost:3000/x"), ["Decline"]);
    expect(shown[0]?.text).not.toContain("Careful");
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "no address", "data:text/html,x", "HTTPS:"])(
    "%s is none of the web: it is told and declined",
    async (url) => {
      for (const said of [undefined, "Decline"]) {
        const { answer, shown, opened } = await ask(visit(url), [said]);
        expect([answer, opened]).toEqual([{ action: "decline" }, []]);
        expect(shown[0]?.text).toContain("is no address of the web");
      }
    },
  );

  it("that is long is shown in part, and whole when it is wanted", async () => {
    const url = `https://example.com/${"x".repeat(1_900)}`;
    const { shown } = await ask(visit(url), ["Show the whole address", "Back to the question", "Decline"]);
    expect(shown[0]?.text.split("\n").length).toBeLessThan(12);
    expect(shown[1]?.text.replace(/^Page 1 of 1:|\n/g, "")).toBe(url);
  });

  it("that is endless is declined", async () => {
    const { answer } = await ask(visit(`https://example.com/${"x".repeat(5_000)}`), ["Decline"]);
    expect(answer).toEqual({ action: "decline" });
  });
});

it("two dialogs do not mix, and one that is not wanted any more is not begun", async () => {
  const order: string[] = [];
  let go = () => {};
  const first = new Promise<void>((resolve) => {
    go = resolve;
  });
  const asker = {
    select: async (text: string) => {
      order.push(text.split("\n")[0] ?? "");
      await first;
      return "Accept";
    },
    input: async () => undefined,
    tell: () => {},
  };
  const { elicit, permission } = createDialogs(asker, () => false);
  const stop = new AbortController();
  const all = [
    elicit.ask("a", form({}), NEVER),
    elicit.ask("b", form({}), stop.signal),
    permission.ask({ server: "c", kind: "tool", name: "t", annotations: {}, why: "w" }, NEVER),
  ];
  stop.abort();
  go();
  const settled = await Promise.allSettled(all);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(order).toEqual(["MCP server `a` asks you:", "Use tool `t` of MCP server `c`?"]);
});
