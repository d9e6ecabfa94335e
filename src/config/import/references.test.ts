import { describe, expect, it } from "vitest";
import { namesByValue, referToVariables } from "./references.ts";

const names = namesByValue({
  GITHUB_TOKEN: "ghp_0123456789abcdef",
  SAME_TOKEN: "ghp_0123456789abcdef",
  MY_KEY: "key-with-$sign",
  PLAIN: "just-a-word",
  SHORT: "short",
  "bad-name": "only-under-a-bad-name",
});

const refer = (entry: object) => referToVariables(entry as never, names).entry;

describe("a secret that a variable has", () => {
  it.each<[string, object, object]>([
    ["as a value", { env: { API_KEY: "ghp_0123456789abcdef" } }, { env: { API_KEY: "${GITHUB_TOKEN}" } }],
    [
      "by its own name first",
      { env: { SAME_TOKEN: "ghp_0123456789abcdef" } },
      { env: { SAME_TOKEN: "${SAME_TOKEN}" } },
    ],
    [
      "behind the scheme of a header",
      { headers: { Authorization: "Bearer ghp_0123456789abcdef" } },
      { headers: { Authorization: "Bearer ${GITHUB_TOKEN}" } },
    ],
    ["as an argument", { args: ["--token", "ghp_0123456789abcdef"] }, { args: ["--token", "${GITHUB_TOKEN}"] }],
    ["in an argument", { args: ["--api-key=ghp_0123456789abcdef"] }, { args: ["--api-key=${GITHUB_TOKEN}"] }],
    ["in an address", { url: "https://h/mcp?a=1&k=just-a-word" }, { url: "https://h/mcp?a=1&k=${PLAIN}" }],
    ["as a password", { url: "https://me:just-a-word@h/mcp" }, { url: "https://me:${PLAIN}@h/mcp" }],
    ["as a token", { bearerToken: "ghp_0123456789abcdef" }, { bearerToken: "${GITHUB_TOKEN}" }],
    ["escaped", { env: { KEY: "key-with-$$sign" } }, { env: { KEY: "${MY_KEY}" } }],
  ])("%s is written as the variable", (_, entry, expected) => {
    expect(refer(entry)).toEqual(expected);
  });

  it.each<[string, object]>([
    ["is no secret", { env: { MODE: "just-a-word" }, args: ["just-a-word"] }],
    ["is short", { env: { KEY: "short" } }],
    ["is in a variable that cannot be named", { env: { KEY: "only-under-a-bad-name" } }],
    ["is a reference already", { env: { KEY: "${GITHUB_TOKEN}" }, headers: { Authorization: "Bearer ${A}" } }],
    ["is not a text", { env: { KEY: 5 }, args: [5], url: 5 }],
  ])("stays what %s", (_, entry) => {
    expect(refer(entry)).toEqual(entry);
  });

  it("is said to be one, without its value", () => {
    const { notes } = referToVariables({ env: { API_KEY: "ghp_0123456789abcdef" } }, names);
    expect(notes).toEqual(["env.API_KEY is taken from the variable GITHUB_TOKEN, which has the same value"]);
  });
});
