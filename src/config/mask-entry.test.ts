// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { expect, it } from "vitest";
import { documentOf } from "./config.fixture.ts";
import { maskEntry } from "./mask-entry.ts";

it("shows an entry as it is written, without what may be secret", () => {
  const entry = {
    command: "npx",
    args: ["-y", "server", "--token", "abcd", "--key=abcd", "https://u:p@h/?q=v", "envvalue1", "$HOME"],
    env: { A: "envvalue1", B: "${B}", C: "$C", D: "", N: 5 },
    headers: { Authorization: "Bearer ${T}", X: "Bearer xyz" },
    url: "https://u:p@h/mcp?k=v",
    bearerToken: "hunter2",
    bearerTokenEnv: "${NAME}",
    oauth: { clientSecret: "hunter2", clientId: "me", nested: [{ password: "hunter2" }] },
    key: "~/k.pem",
    timeout: 5,
    disabled: true,
  };
  expect(maskEntry(documentOf(JSON.stringify(entry)).root)).toEqual({
    ...entry,
    args: ["-y", "server", "--token", "***", "--key=***", "https://***@h/?q=***", "***", "$HOME"],
    env: { A: "***", B: "${B}", C: "$C", D: "", N: "***" },
    headers: { Authorization: "Bearer ${T}", X: "***" },
    url: "https://***@h/mcp?k=***",
    bearerToken: "***",
    oauth: { clientSecret: "***", clientId: "me", nested: [{ password: "***" }] },
  });
});

it("shows nothing of what is no object", () => {
  expect(maskEntry(documentOf('"hunter2"').root)).toEqual({});
});
