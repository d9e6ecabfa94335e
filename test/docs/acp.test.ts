import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("[S2-65] the design of an editor's servers names each message of the line to pi, and each request that is changed", () => {
  const text = read("docs/specs/acp.md");
  const sources = ["src/acp/channel.ts", "src/acp/peer.ts", "src/acp/proxy/door.ts"].map(read).join("\n");
  const messages = [...sources.matchAll(/(?:notify|request)\("(\w+)"/g)].map(([, name]) => name);
  expect(messages.length).toBeGreaterThan(6);
  for (const name of messages) expect(text).toContain(`| \`${name}\` |`);
  const setUps = /SET_UPS[^;]*;/.exec(read("src/acp/proxy/proxy.ts"))?.[0] ?? "";
  const requests = [...setUps.matchAll(/"session\/(\w+)"/g)].map(([, name]) => name);
  expect(requests).toHaveLength(4);
  for (const name of requests) expect(text).toMatch(new RegExp(`\`(session/)?${name}\``));
});
