import { describe, expect, it } from "vitest";
import type { CompletionArgument, Prompt } from "../../protocol/types.ts";
import { completePrompt } from "./prompt-completion.ts";

const PLAN: Prompt = {
  name: "plan",
  arguments: [
    { name: "city", required: true, description: "Where to" },
    { name: "days", required: false },
  ],
  raw: {},
};

async function complete(typed: string, values: readonly string[] = []) {
  const asked: CompletionArgument[] = [];
  const items = await completePrompt(PLAN, typed, (argument) => {
    asked.push(argument);
    return Promise.resolve(values);
  });
  return { asked, values: items?.map(({ value }) => value) ?? null, items };
}

describe("the arguments of a prompt", () => {
  it("are completed by what the server proposes for the one whose turn it is, and by names", async () => {
    const { asked, items } = await complete("", ["Rome", "New York"]);
    expect(asked).toEqual([{ name: "city", value: "", others: {} }]);
    expect(items).toEqual([
      { value: "Rome", label: "Rome" },
      { value: '"New York"', label: "New York" },
      { value: "city=", label: "city=", description: "Where to" },
      { value: "days=", label: "days=", description: "" },
    ]);
  });

  it("keep what was typed before, which the server is told of", async () => {
    const second = await complete('"New York" 3', ["30"]);
    expect(second.asked).toEqual([{ name: "days", value: "3", others: { city: "New York" } }]);
    expect(second.values).toEqual(['"New York" 30']);
    const named = await complete("days=2 city=R", ["Rome", "Rio de Janeiro"]);
    expect(named.asked).toEqual([{ name: "city", value: "R", others: { days: "2" } }]);
    expect(named.values).toEqual(["days=2 city=Rome", 'days=2 city="Rio de Janeiro"']);
    expect((await complete("Rome d")).values).toEqual(["Rome days="]);
  });

  it("are left alone inside quotes and behind the last one", async () => {
    expect(await complete('"New ', ["x"])).toMatchObject({ asked: [], items: null });
    expect(await complete("city='New ", ["x"])).toMatchObject({ asked: [], items: null });
    expect(await complete("Rome three d", ["x"])).toMatchObject({ asked: [], items: null });
  });

  it("are shown nothing that a terminal obeys, and no end of it", async () => {
    const many = Array.from({ length: 100 }, (_, at) => `v${at}`);
    const { values } = await complete("x", ["a\u001b[31m", "b\u202e", "", ...many]);
    expect(values).toEqual(many.slice(0, 50));
    const evil: Prompt = {
      ...PLAN,
      arguments: [
        { name: "a\u001b[31m", required: true },
        { name: "b", required: false },
      ],
    };
    expect((await completePrompt(evil, "", () => Promise.resolve([])))?.map(({ label }) => label)).toEqual(["b="]);
  });
});
