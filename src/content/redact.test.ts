import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomNumbers, randomText } from "./random.fixture.ts";
import { createRedactor } from "./redact.ts";

const patterns = createRedactor([], "patterns");

function values(secrets: Record<string, string>, mode: "patterns" | "values" = "values") {
  return createRedactor(
    Object.entries(secrets).map(([key, value]) => ({
      value,
      isSecret: /TOKEN|KEY|SECRET|PASS|PIN|auth/i.test(key),
    })),
    mode,
  );
}

describe("configured values", () => {
  it("are removed wherever they occur", () => {
    const redactor = values({ TOKEN: "s3cr3t-value", LOG_LEVEL: "debug" });
    expect(redactor.text("a s3cr3t-value,s3cr3t-value (debug)")).toBe("a [REDACTED],[REDACTED] ([REDACTED])");
    expect(redactor.text("nothing here")).toBe("nothing here");
  });

  it("are removed when short only if their name is that of a secret", () => {
    expect(values({ PORT: "80", DEBUG: "1" }).text("80 1")).toBe("80 1");
    expect(values({ API_KEY: "xy", Authorization: "z9" }).text("xy z9 a")).toBe("[REDACTED] [REDACTED] a");
    expect(values({ TOKEN: "", SECRET: "  " }).text("a  b")).toBe("a[REDACTED]b");
    expect(values({ TOKEN: "" }).text("a b")).toBe("a b");
  });

  it("are found in their escaped forms", () => {
    const value = 'pä"ss\\wo/rd\n€';
    const redactor = values({ PASSWORD: value });
    const json = JSON.stringify({ v: value });
    for (const text of [
      value,
      json,
      JSON.stringify(json),
      json.replaceAll("/", "\\/"),
      json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
      `https://host/?q=${encodeURIComponent(value)}`,
    ]) {
      const redacted = redactor.text(text);
      expect(redacted, text).toContain("[REDACTED]");
      expect(redacted, text).not.toMatch(/p(ä|\\u00e4|%C3)/);
      expect(redacted, text).not.toContain("rd");
    }
  });

  it("are found in base64, also of a text around them, and however often they were put into JSON or an address", () => {
    const value = 'pä"s\\w/rd €';
    const redactor = values({ PASSWORD: value });
    const json = JSON.stringify({ v: value });
    const forms = [
      JSON.stringify(JSON.stringify(JSON.stringify(json))),
      encodeURIComponent(encodeURIComponent(value)),
      encodeURIComponent(json).toLowerCase(),
      new URLSearchParams({ q: value }).toString(),
    ];
    for (const text of forms) expect(redactor.text(text), text).not.toMatch(/w(?:\/|%2f|%252f)rd/i);
    for (const around of ["", "a", "ab"]) {
      for (const text of [value, json, encodeURIComponent(json), ...forms.slice(3)]) {
        for (const kind of ["base64", "base64url"] as const) {
          const encoded = Buffer.from(`${around}${text}`).toString(kind);
          const left = Buffer.from(redactor.text(encoded).replace("[REDACTED]", ""), "base64").toString();
          expect(redactor.text(encoded)).toContain("[REDACTED]");
          expect(left).not.toContain("rd");
        }
      }
    }
    expect(values({ PASSWORD: "abc" }).text("YWJj")).toBe("YWJj");
  });

  it("are found in linear time in what is nothing but escapes", () => {
    const redactor = values({ A: '\\"\\"x', B: '%%%"y', C: " / z" });
    for (const piece of ["\\", '\\"', "%25", "%", "%5c", "+", "/", '"']) {
      expect(redactor.text(piece.repeat(1024 * 1024)).length).toBeGreaterThan(0);
    }
  }, 60_000);

  it("are found without the white space around them and as they look when sanitised", () => {
    expect(values({ KEY: "abcdef\n" }).text("got abcdef.")).toBe("got [REDACTED].");
    expect(values({ KEY: "abc\x01def" }).text("got abcdef.")).toBe("got [REDACTED].");
    expect(values({ KEY: "line one\r\nline two" }).text("line one\nline two!")).toBe("[REDACTED]!");
  });

  it("are covered to the last character when they overlap or contain each other", () => {
    const redactor = values({ A: "abcdef", B: "defghi", C: "cdef", D: "abcdefghij" });
    expect(redactor.text("<abcdefghi>")).toBe("<[REDACTED]>");
    expect(redactor.text("<abcdefghij>")).toBe("<[REDACTED]>");
    expect(redactor.text("<cdef>")).toBe("<[REDACTED]>");
  });

  it("do not spoil a mark that is there already", () => {
    const redactor = values({ KEY: "ACT", OTHER: "REDACTED" });
    expect(redactor.text("ACT [REDACTED] fACT")).toBe("[REDACTED] [REDACTED] f[REDACTED]");
  });

  it("never survive, whatever the text", () => {
    const next = randomNumbers(11);
    const pieces = ["a", "b", "ab", "ba", "[", "]", "RED", "[REDACTED]", "\n", '"', "\\"];
    for (let round = 0; round < 5000; round++) {
      const secrets = [4, 5, 6].map((size) => randomText(next, ["a", "b", '"', "\\"], size));
      const redactor = createRedactor(
        secrets.map((value) => ({ value, isSecret: false })),
        "values",
      );
      const redacted = redactor.text(randomText(next, [...pieces, ...secrets], 12));
      for (const secret of secrets) if (secret.length >= 4) expect(redacted).not.toContain(secret);
      expect(redactor.text(redacted)).toBe(redacted);
    }
  });
});

describe("json", () => {
  it("redacts strings, names and secret numbers at every depth", () => {
    const redactor = values({ PIN: "12345", TOKEN: "tok-1" });
    const value = { "a-tok-1": ["x tok-1", { deep: 12345, other: 123456, yes: true, none: null }] };
    expect(redactor.json(value)).toEqual({
      "a-[REDACTED]": ["x [REDACTED]", { deep: "[REDACTED]", other: 123456, yes: true, none: null }],
    });
    expect(value["a-tok-1"][0]).toBe("x tok-1");
  });

  it("leaves numbers that are short or no secret", () => {
    const value = { port: 8080, limit: 100 };
    expect(values({ PORT: "8080", MAX_TOKENS: "100" }).json(value)).toEqual(value);
  });

  it("keeps members apart whose names become the same", () => {
    const redactor = values({ A: "aaaa", B: "bbbb" });
    expect(redactor.json({ aaaa: 1, bbbb: 2, "[REDACTED]": 3, c: 4 })).toEqual({
      "[REDACTED]": 1,
      "[REDACTED] 2": 2,
      "[REDACTED] 3": 3,
      c: 4,
    });
  });

  it("gives JSON of the same shape without the secret, whatever the value", () => {
    const shape = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return 0;
      return Array.isArray(value) ? value.map(shape) : Object.values(value).map(shape);
    };
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom("s3cr3t", "as3cr3t", "s3cr3ts3cr3t", "[REDACTED]", "[REDACTED] 2"),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(names, fc.double(), fc.boolean(), tie("list"), tie("members")),
      list: fc.array(tie("tree"), { maxLength: 4 }),
      members: fc.array(fc.tuple(names, tie("tree")), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
    }));
    const redactor = values({ TOKEN: "s3cr3t" });
    fc.assert(
      fc.property(tree, (value) => {
        const redacted = redactor.json(value);
        expect(JSON.stringify(redacted)).not.toContain("s3cr3t");
        // Names like `7` are put first by JavaScript itself.
        expect(JSON.stringify(shape(redacted))).toHaveLength(JSON.stringify(shape(value)).length);
      }),
    );
  });

  it("removes the values of members whose name says that they are secret, as from a JSON text", () => {
    const value = {
      api_key: "abc",
      access_token: 12345,
      password: null,
      nextPageToken: "CAoQAA",
      token: { type: "x" },
    };
    const expected = { ...value, api_key: "[REDACTED]", access_token: "[REDACTED]" };
    expect(patterns.json(value)).toEqual(expected);
    expect(JSON.parse(patterns.text(JSON.stringify(value)))).toEqual(expected);
    expect(values({}).json(value)).toEqual(value);
  });

  it("copies a member called __proto__ as a member", () => {
    const copy = values({}).json(JSON.parse('{"__proto__": {"polluted": true}}')) as Record<string, unknown>;
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect((copy as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("does not show what is nested too deeply to be looked at", () => {
    const depth = 50_000;
    const value: unknown = JSON.parse(`${"[".repeat(depth)}"tok-1"${"]".repeat(depth)}`);
    expect(JSON.stringify(values({ TOKEN: "tok-1" }).json(value))).toMatch(/^\[+"\[REDACTED\]"\]+$/);
  });
});

describe("patterns", () => {
  const cases: [string, string, string][] = [
    ["an API key", "key sk-abcdefghijklmnop1234 end", "key [REDACTED] end"],
    ["a GitHub token", `x ghp_${"a1".repeat(18)} y`, "x [REDACTED] y"],
    ["a fine-grained GitHub token", `github_pat_${"A1_".repeat(10)}`, "[REDACTED]"],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", "[REDACTED]"],
    ["an authorization header", "Authorization: Bearer abc.def", "Authorization=[REDACTED]"],
    ["a basic header", "authorization: Basic dXNlcjpwdw==", "authorization=[REDACTED]"],
    ["a bearer token", "with bearer abc123 sent", "with Bearer [REDACTED] sent"],
    ["an assignment", "token=abc123 next", "token=[REDACTED] next"],
    ["a quoted assignment", 'password: "two words" next', "password=[REDACTED] next"],
    ["an unclosed quote", 'password="two', "password=[REDACTED]"],
    ["a JSON member that is cut", '{"password": "two words', '{"password": "[REDACTED]"'],
    ["a quote cut inside JSON", '{"text": "password=\\"two words", "n": 1}', '{"text": "password=[REDACTED]", "n": 1}'],
    ["an AWS variable", "AWS_SECRET_ACCESS_KEY='abc/def' x", "AWS_SECRET_ACCESS_KEY=[REDACTED] x"],
    ["an API key by name", "api-key: q api_key=q APIKEY=q", "api-key=[REDACTED] api_key=[REDACTED] APIKEY=[REDACTED]"],
    ["a query", "https://h/?access_token=abc&page=2#x", "https://h/?access_token=[REDACTED]&page=2#x"],
    ["a JSON member", '{"password": "a\\"b", "n": 1}', '{"password": "[REDACTED]", "n": 1}'],
    [
      "JSON in JSON",
      '{"text": "{\\"token\\": \\"abc\\", \\"n\\": 1}"}',
      '{"text": "{\\"token\\": \\"[REDACTED]\\", \\"n\\": 1}"}',
    ],
    ["a numeric JSON member", '{"secret":12345,"n":1}', '{"secret":"[REDACTED]","n":1}'],
    ["a Slack token", "xoxb-1234567890-abc", "[REDACTED]"],
    ["a private key", "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[REDACTED]\nb"],
    ["the beginning of a private key", "a -----BEGIN PRIVATE KEY-----\nMII", "a [REDACTED]"],
  ];
  for (const [what, text, expected] of cases) {
    it(`removes ${what}`, () => {
      expect(patterns.text(text)).toBe(expected);
      expect(patterns.text(expected)).toBe(expected);
    });
  }

  it("keeps what is no secret", () => {
    for (const text of [
      "Send a bearer token with each request.",
      '{"nextPageToken": "CAoQAA", "next_token": "x", "max_tokens": 5}',
      "?pageToken=CAoQAA&x=1",
      '{"secret": {"nested": 1}, "token": null}',
      "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
      "a desk-lamp and a task-list",
    ]) {
      expect(patterns.text(text)).toBe(text);
    }
  });

  it("does not swallow the rest of a JSON text without white space", () => {
    expect(patterns.text('{"a":"token=abc","b":"kept"}')).toBe('{"a":"token=[REDACTED]","b":"kept"}');
    expect(patterns.text('"x: token=abc\\nnext line"')).toBe('"x: token=[REDACTED]\\nnext line"');
  });

  it("are not applied in the mode `values`", () => {
    expect(values({ A: "abcd" }).text("token=x abcd")).toBe("token=x [REDACTED]");
  });

  it("change nothing when applied again", () => {
    const next = randomNumbers(5);
    // biome-ignore format: one line of pieces reads better than thirty
    const pieces = [
      "token", "secret", "authorization", "api_key", "AWS_SESSION_TOKEN", "bearer ", "basic ", "=", ":", " ", "\n", '"',
      "'", "\\", '\\"', "&", "?", "[REDACTED]", "[", "]", "sk-", "ghp_", "xoxb-", "abcdefgh12345678", "12",
      "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
    ];
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(next, pieces, 10);
      const once = patterns.text(text);
      expect(patterns.text(once), JSON.stringify(text)).toBe(once);
    }
  });

  it("finish on 1 MB of the worst input", () => {
    const size = 1024 * 1024;
    // biome-ignore format: one line of pieces reads better than thirty
    for (const piece of [
      "token", "token ", "token=", 'token="', "token='", 'token":"', 'token\\":\\"', 'token\\\\\\"', "?token", "?a", "&a.",
      "authorization: ", "authorization: bearer ", "bearer ", "bearer\n", "AWS_SESSION_TOKEN", 'AWS_SESSION_TOKEN"', "sk-",
      "sk_", "sk-a", "ghp_", "xoxb-----", "github_pat_", "AKIA", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ",
      "-----BEGIN A A A A ", "api_api-", "next_next_", " ", "\\", '\\"', "'\\", "a",
    ]) {
      const text = piece.repeat(Math.ceil(size / piece.length));
      for (const hostile of [text, `token=${text}`, `"token":"${text}`, `token${" ".repeat(size)}`, `bearer${" ".repeat(size)}`]) {
        expect(patterns.text(hostile).length).toBeGreaterThan(0);
      }
    }
  }, 60_000);

  it("finish on one value of 16 MB", () => {
    const size = 16 * 1024 * 1024;
    for (const text of ["token=", '"token": "', "token='", 'token=\\"', "sk-", "Bearer ", "?token="]) {
      expect(patterns.text(text + "a".repeat(size)).length).toBeLessThan(100);
    }
    expect(patterns.text(`token="${"\\x".repeat(size / 2)}"`).length).toBeGreaterThan(0);
  }, 60_000);

  it("finish with many configured values on a large text", () => {
    const secrets = Array.from({ length: 50 }, (_, index) => ({
      value: "a".repeat(index + 1),
      isSecret: true,
    }));
    expect(createRedactor(secrets, "values").text("a".repeat(1024 * 1024))).toBe("[REDACTED]");
  }, 60_000);
});
