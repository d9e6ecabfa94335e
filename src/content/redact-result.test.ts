import { expect, it } from "vitest";
import { decodeCallResult } from "../protocol/decode/call-result.ts";
import { createRedactor } from "./redact.ts";
import { redactResult } from "./redact-result.ts";

/** A result as the server sent it, decoded, without these secrets. */
function redacted(raw: unknown, ...secrets: string[]) {
  const configured = secrets.map((value) => ({ value, isSecret: true }));
  return redactResult(decodeCallResult(raw), createRedactor(configured, "values"));
}

const IMAGE = { type: "image", data: "iVBORw0KGgoAAAAANSUhEUgAAAtestA==", mimeType: "image/png" };
const FILE = { uri: "file:///test", blob: "AtestAAA", mimeType: "application/x-test" };

it("leaves binary data as it is", () => {
  const { content, raw } = redacted({ content: [IMAGE, { type: "resource", resource: FILE }] }, "test");
  const file = { uri: "file:///[REDACTED]", blob: "AtestAAA", mimeType: "application/x-[REDACTED]" };
  expect(content).toEqual([IMAGE, { type: "resource", ...file }]);
  expect(raw).toEqual({ content: [IMAGE, { type: "resource", resource: file }] });
});

it("takes what is no base64 for a text", () => {
  const { content, raw } = redacted({ content: [{ ...IMAGE, data: "the token: s3cr3t" }] }, "s3cr3t");
  expect(JSON.stringify([content, raw])).not.toContain("s3cr3t");
});

it("keeps the shape of a result, whatever words are secret", () => {
  const raw = {
    content: [
      { type: "text", text: "a text" },
      { type: "resource_link", uri: "u", name: "n", size: 2048 },
      { type: "kind" },
      "text",
    ],
    structuredContent: { content: "text" },
    isError: true,
  };
  const words = ["content", "text", "type", "kind", "raw", "structuredContent", "isError", "2048", "uri", "size"];
  expect(redacted(raw, ...words)).toEqual({
    content: [
      { type: "text", text: "a [REDACTED]" },
      { type: "resource_link", uri: "u", name: "n", size: 2048 },
      { type: "unknown", kind: "[REDACTED]" },
      { type: "unknown", kind: "string" },
    ],
    structuredContent: { "[REDACTED]": "[REDACTED]" },
    isError: true,
    raw: {
      content: [
        { type: "text", text: "a [REDACTED]" },
        { type: "resource_link", uri: "u", name: "n", size: 2048 },
        { type: "[REDACTED]" },
        "[REDACTED]",
      ],
      structuredContent: { "[REDACTED]": "[REDACTED]" },
      isError: true,
    },
  });
});

it("removes secrets from every other member", () => {
  const raw = {
    content: [{ type: "text", text: "", _meta: { s3cr3t: ["s3cr3t"] }, s3cr3t: 1 }, { type: "s3cr3t" }],
    s3cr3t: { type: "s3cr3t" },
    _meta: { data: "s3cr3t" },
  };
  expect(JSON.stringify(redacted(raw, "s3cr3t"))).not.toContain("s3cr3t");
});

it("copies a member called __proto__ as a member", () => {
  const { raw } = redacted(JSON.parse('{"content": [{"__proto__": {"polluted": true}}]}'));
  expect(JSON.stringify(raw)).toBe('{"content":[{"__proto__":{"polluted":true}}]}');
});
