import { describe, expect, it } from "vitest";
import type { ConfiguredSecret } from "../config/record.ts";
import { createRedactor } from "./redact.ts";
import { redactDefinition, valueSecrets, wordSecrets } from "./redact-definition.ts";

const redacted = (definition: object, ...secrets: ConfiguredSecret[]) =>
  redactDefinition(
    { ...definition },
    {
      texts: createRedactor(secrets, "values"),
      values: createRedactor(valueSecrets(secrets), "values"),
      words: createRedactor(wordSecrets(secrets), "values"),
    },
  );
const secret = (value: string): ConfiguredSecret => ({ value, isSecret: true });
const setting = (value: string): ConfiguredSecret => ({ value, isSecret: false });

describe("redactDefinition", () => {
  it("gives back the definition itself where there is nothing to remove", () => {
    const definition = { name: "t", inputSchema: { type: "object" } };
    const redactor = createRedactor([secret("hunter22")], "values");
    expect(redactDefinition(definition, { texts: redactor, values: redactor, words: redactor })).toBe(definition);
  });

  it("removes a secret wherever it stands", () => {
    const s = "hunter22";
    const schema = { title: s, properties: { [s]: { enum: [s, 1], const: s } }, required: [s], "x-own": { [s]: s } };
    const text = JSON.stringify(
      redacted({ name: "t", description: `a ${s}`, inputSchema: schema, _meta: { a: [s] } }, secret(s)),
    );
    expect(text).not.toContain(s);
    expect(JSON.parse(text).inputSchema.properties["[REDACTED]"].enum).toEqual(["[REDACTED]", 1]);
  });

  it("leaves the shape of a schema alone, whatever is configured", () => {
    const schema = { type: "object", properties: { a: { type: "string", description: "string" } }, required: ["a"] };
    const definition = { name: "t", inputSchema: schema };
    const all = ["type", "object", "properties", "string", "required", "inputSchema", "name"].map(secret);
    expect(redacted(definition, ...all)).toEqual({
      name: "t",
      inputSchema: {
        type: "object",
        properties: { a: { type: "string", description: "[REDACTED]" } },
        required: ["a"],
      },
    });
  });

  it("takes an ordinary word that is no secret out of texts, and leaves it where a call needs it", () => {
    const schema = { properties: { production: { enum: ["production"], description: "In production." } } };
    expect(redacted({ inputSchema: schema }, setting("production"))).toEqual({
      inputSchema: { properties: { production: { enum: ["production"], description: "In [REDACTED]." } } },
    });
    expect(JSON.stringify(redacted({ inputSchema: { enum: ["acme-7731"] } }, setting("acme-7731")))).toContain(
      "[REDACTED]",
    );
  });

  it("leaves an ordinary word that is called secret where a call needs it, and nowhere else", () => {
    const schema = {
      properties: { token: { enum: ["token"], default: "token", examples: ["token"] } },
      required: ["token"],
    };
    expect(redacted({ name: "token_get", inputSchema: schema }, secret("token"))).toEqual({
      name: "token_get",
      inputSchema: {
        properties: { token: { enum: ["token"], default: "[REDACTED]", examples: ["[REDACTED]"] } },
        required: ["token"],
      },
    });
  });

  it("ends where a definition does not", () => {
    let schema: object = { const: "hunter22" };
    for (let depth = 0; depth < 1_000; depth++) schema = { items: schema };
    expect(JSON.stringify(redacted({ inputSchema: schema }, secret("hunter22")))).not.toContain("hunter22");
  });
});
