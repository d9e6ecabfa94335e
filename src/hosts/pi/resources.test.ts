import { describe, expect, it } from "vitest";
import type { Resource } from "../../protocol/types.ts";
import type { PiAutocomplete } from "./api.ts";
import { resourceCompletion } from "./resources.ts";

const NOTES: Resource[] = [
  { uri: "note://1", name: "first", title: "The first", raw: {} },
  { uri: "note://2", name: "second", raw: {} },
  { uri: "note://a b", name: "with a space", raw: {} },
  { uri: "note://\u001b[31m", name: "evil", raw: {} },
];

/** pi's own, which completes files behind `@`. */
const FILES: PiAutocomplete = {
  triggerCharacters: ["@"],
  getSuggestions: (lines, line, column) => {
    const prefix = /@\S*$/.exec((lines[line] ?? "").slice(0, column))?.[0];
    return Promise.resolve(
      prefix === undefined ? null : { items: [{ value: "@notes.md", label: "notes.md" }], prefix },
    );
  },
  applyCompletion: (lines) => ({ lines: [...lines, "pi's own"], cursorLine: 0, cursorCol: 0 }),
};

function typed(text: string, place = {}) {
  const listed: string[] = [];
  const completion = resourceCompletion(FILES, {
    servers: () => ["notes", "two words"],
    resources: (server) => {
      listed.push(server);
      return Promise.resolve(NOTES);
    },
    ...place,
  });
  const suggest = () => completion.getSuggestions([text], 0, text.length, { signal: new AbortController().signal });
  return { completion, listed, suggest };
}

describe("@server:uri", () => {
  it("stands beside files: first servers, then what one of them has", async () => {
    const start = typed("see @n");
    expect(await start.suggest()).toEqual({
      prefix: "@n",
      items: [
        { value: "@notes:", label: "notes:", description: "resources of an MCP server" },
        { value: "@notes.md", label: "notes.md" },
      ],
    });
    expect(start.listed).toEqual([]);
    const found = typed("see (@notes:SEC");
    expect((await found.suggest())?.items[0]).toEqual({
      value: "@notes:note://2",
      label: "second",
      description: "note://2",
    });
    expect(found.listed).toEqual(["notes"]);
    expect((await typed("@notes:").suggest())?.items.map(({ value }) => value)).toEqual([
      ...["@notes:note://1", "@notes:note://2", "@notes.md"],
    ]);
  });

  it("leaves all else to pi, also where a server does not answer", async () => {
    const own = { prefix: "@x", items: [{ value: "@notes.md", label: "notes.md" }] };
    expect(await typed("@x").suggest()).toEqual(own);
    expect(await typed("me@notes:").suggest()).toEqual({ ...own, prefix: "@notes:" });
    expect(await typed("no").suggest()).toBeNull();
    const failing = typed("@notes:", { resources: () => Promise.reject(new Error("no")) });
    expect((await failing.suggest())?.items).toEqual(own.items);
  });

  it("is put in its place, the cursor where one types on", async () => {
    const { completion, suggest } = typed("see @n");
    const [server, file] = (await suggest())?.items ?? [];
    const text = "see @n now";
    expect(server && completion.applyCompletion([text], 0, 6, server, "@n")).toEqual({
      lines: ["see @notes: now"],
      cursorLine: 0,
      cursorCol: 11,
    });
    expect(file && completion.applyCompletion([text], 0, 6, file, "@n").lines).toContain("pi's own");
    const address = typed("@notes:f");
    const [first] = (await address.suggest())?.items ?? [];
    expect(first && address.completion.applyCompletion(["@notes:f"], 0, 8, first, "@notes:f")).toEqual({
      lines: ["@notes:note://1 "],
      cursorLine: 0,
      cursorCol: 16,
    });
  });
});
