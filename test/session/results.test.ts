import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { ToolNames } from "../../src/catalog/names.ts";
import type { Origin } from "../../src/config/record.ts";
import { jpeg, png } from "../../src/content/image.fixture.ts";
import { directTools } from "../../src/tools/direct.ts";
import { runMcpTool } from "../../src/tools/mcp.ts";
import type { ToolAnswer } from "../../src/tools/tool.ts";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

type Door = "mcp" | "direct";

interface Answer extends ToolAnswer {
  /** All text of the answer; for `mcp` without the line that names server and tool. */
  readonly text: string;
  readonly files: readonly string[];
}

/** What a model gets when it calls a tool whose server answers with this result. */
async function answerTo(
  home: Home,
  result: unknown,
  {
    door = "direct",
    origin = "settings",
    definition = {},
    env = {},
  }: { door?: Door; origin?: Origin; definition?: Record<string, unknown>; env?: Record<string, string> } = {},
): Promise<Answer> {
  const server = await fakeStdio(home, { tools: [tool("echo", definition)], on: { "tools/call": { result } } });
  const entry = server.entry("fake", { env });
  home.write(
    origin === "settings"
      ? { settings: { mcpServers: [entry] }, mcp: {} }
      : { settings: {}, mcp: { mcpServers: { fake: entry } } },
  );
  home.write({ env: { PI_MCP_KEEP_RESULTS: "1" } });
  await using session = sessionOf(home);
  const answer =
    door === "mcp"
      ? await runMcpTool(session, { args: { action: "call", server: "fake", tool: "echo" } })
      : await directTools(session, "fake", await session.listTools("fake"), new ToolNames())[0]?.run({ args: {} });
  if (answer === undefined) throw new Error("the server lists no tool");
  const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return {
    ...answer,
    text: door === "mcp" ? text.slice(text.indexOf("\n") + 1) : text,
    files: answer.details.files as string[],
  };
}

function textResult(text: string, more: object = {}) {
  return { content: [{ type: "text", text }], ...more };
}

function imageResult(bytes: Buffer | string, mimeType: string) {
  const data = typeof bytes === "string" ? bytes : bytes.toString("base64");
  return { content: [{ type: "image", data, mimeType }] };
}

/** A cut text without the line about what is missing, which has to be its last. */
function bodyOf(text: string): string {
  const [, body = expect.fail("nothing says that it is cut")] =
    /^(.*)\n\[output truncated: \d+ of \d+ bytes not shown; full output: [^\n]+\]\n?$/s.exec(text) ?? [];
  return body;
}

test("[E163] an image has the type that its bytes say", async () => {
  await using home = await temporaryHome();
  const { content } = await answerTo(home, imageResult(jpeg(40, 30), "image/png"));
  expect(content).toEqual([{ type: "image", data: jpeg(40, 30).toString("base64"), mimeType: "image/jpeg" }]);
});

test("[E164] an image that is empty or damaged becomes a text", async () => {
  await using home = await temporaryHome();
  for (const bytes of ["", "@@", Buffer.from("\x01\x02random"), png(9, 9).subarray(0, 20)]) {
    const { content } = await answerTo(home, imageResult(bytes, "image/png"));
    expect(content).toEqual([{ type: "text", text: expect.stringMatching(/^\[image\/png.*(omitted|not shown): it/) }]);
  }
});

test("[E166] an image's data is bare base64, also when the server wrote a data address", async () => {
  await using home = await temporaryHome();
  const data = png(3, 3).toString("base64");
  for (const prefix of ["data:image/png;base64,", "data:image/png;base64,data:image/png;base64,"]) {
    const { content } = await answerTo(home, imageResult(prefix + data, "image/png;base64"));
    expect(content).toEqual([{ type: "image", data, mimeType: "image/png" }]);
  }
});

test.each<Door>(["mcp", "direct"])("[E167] nothing of a mixed result is lost through %s", async (door) => {
  await using home = await temporaryHome();
  const sound = Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1");
  const blob = Buffer.from([0, 1, 2, 255]);
  const { text, files } = await answerTo(
    home,
    {
      content: [
        { type: "text", text: "first" },
        { type: "resource_link", uri: "file:///guide.md", name: "Guide", mimeType: "text/markdown", size: 2048 },
        { type: "resource", resource: { uri: "file:///note.txt", mimeType: "text/plain", text: "inline" } },
        { type: "resource", resource: { uri: "file:///d/data.bin", blob: blob.toString("base64") } },
        { type: "audio", data: sound.toString("base64"), mimeType: "audio/wav" },
      ],
    },
    { door },
  );
  expect(text).toContain("first\n[resource link Guide: file:///guide.md (text/markdown, 2 KB)");
  expect(text).toContain("\n[resource file:///note.txt (text/plain)]\ninline\n");
  expect(text).toContain(`\n[resource file:///d/data.bin, 4 bytes, saved to ${files[0]}]\n`);
  expect(text).toContain(`\n[audio/wav, 16 bytes, saved to ${files[1]}]`);
  expect(files.map((file) => readFileSync(file))).toEqual([blob, sound]);
  expect(files.map((file) => basename(file))).toEqual(["1-data.bin", "2-echo.wav"]);
});

test("the `mcp` tool marks an image and keeps it", async () => {
  await using home = await temporaryHome();
  const { text, files } = await answerTo(home, imageResult(png(3, 3), "image/png"), { door: "mcp" });
  expect(text).toMatch(
    /^\[image result omitted — binary data not rendered\]\n\[image\/png, \d+ bytes, saved to [^\n]*\]\n$/,
  );
  expect(readFileSync(files[0] ?? "")).toEqual(png(3, 3));
});

test("[E169] a document of a megabyte is a file, and no base64 in the context", async () => {
  await using home = await temporaryHome();
  const pdf = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(1024 * 1024, 7)]);
  const resource = { uri: "report://42", mimeType: "application/pdf", blob: pdf.toString("base64") };
  const { text, files } = await answerTo(home, { content: [{ type: "resource", resource }] });
  expect(text).toBe(`[resource report://42 (application/pdf), 1 MB, saved to ${files[0]}]`);
  expect(files[0]).toMatch(/\.pdf$/);
  expect(readFileSync(files[0] ?? "")).toEqual(pdf);
});

test.each<Door>(["mcp", "direct"])("[E170] structured content alone is shown as JSON through %s", async (door) => {
  await using home = await temporaryHome();
  const structuredContent = { rows: [1, "two"] };
  const { text } = await answerTo(home, { content: [], structuredContent }, { door });
  expect(JSON.parse(text)).toEqual(structuredContent);
});

const NUMBER_SCHEMA = { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } };

test.each<Door>(["mcp", "direct"])(
  "[E172] an error shows its text and its structured content through %s",
  async (door) => {
    await using home = await temporaryHome();
    const structuredContent = { error: { code: "quota", retry: 60 } };
    const result = textResult("Quota exceeded", { structuredContent, isError: true });
    const { content, isError } = await answerTo(home, result, { door, definition: NUMBER_SCHEMA });
    const [block, ...more] = content;
    const [head, first, ...rest] = block?.type === "text" ? block.text.split("\n") : [];
    expect([head, first, more]).toEqual(["MCP server `fake` tool `echo` reported an error:", "Quota exceeded", []]);
    expect(isError).toBe(true);
    expect(JSON.parse(rest.join("\n"))).toEqual(structuredContent);
  },
);

test("[E173] a text stays when the structured content does not fit the schema, or is missing", async () => {
  await using home = await temporaryHome();
  const unfit = textResult("The answer", { structuredContent: { n: "x" } });
  for (const result of [unfit, textResult("The answer")]) {
    const { text, isError } = await answerTo(home, result, { definition: NUMBER_SCHEMA });
    expect(text).toMatch(/^The answer/);
    expect(isError).toBe(false);
  }
});

test("an error that is an image alone says that it is one", async () => {
  await using home = await temporaryHome();
  const { content } = await answerTo(home, { ...imageResult(png(3, 3), "image/png"), isError: true });
  expect(content).toEqual([
    { type: "text", text: "MCP server `fake` tool `echo` reported an error:" },
    { type: "image", data: png(3, 3).toString("base64"), mimeType: "image/png" },
  ]);
});

test.each<Door>(["mcp", "direct"])("a result with nothing in it says so through %s", async (door) => {
  await using home = await temporaryHome();
  const { text } = await answerTo(home, textResult(""), { door });
  expect(text.trimEnd()).toBe("[the result is empty]");
});

const FLOODS = [
  ["one line of 400 kB", `START${"x".repeat(400_000)}END`],
  ["5000 lines", ["START", ...Array.from({ length: 4998 }, (_, at) => `line ${at}`), "END"].join("\n")],
  ["long lines", ["START", ...Array.from({ length: 1000 }, () => "é".repeat(300)), "END"].join("\n")],
] as const;

const LIMITS = { settings: 32 * 1024, mcpjson: 50 * 1024 };

test.each(
  FLOODS.flatMap(([name, text]) =>
    (["settings", "mcpjson"] as const).flatMap((origin) =>
      (["mcp", "direct"] as const).map((door) => ({ name, text, origin, door })),
    ),
  ),
)(
  "[S1-33] [S3-59] [S3-60] [S3-61] [S3-62] [E175] $name from a server of $origin through $door: beginning, end, and a file with all of it",
  async ({ text, origin, door }) => {
    await using home = await temporaryHome();
    const answer = await answerTo(home, textResult(text), { origin, door });
    const body = bodyOf(answer.text);
    expect(body.startsWith("START")).toBe(true);
    expect(body.endsWith("END")).toBe(true);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(LIMITS[origin]);
    expect(body.split("\n").length).toBeLessThanOrEqual(2000);
    expect(body).not.toContain("\ufffd");
    const [file = ""] = answer.files;
    expect(answer.text).toContain(`full output: ${file}]`);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(answer.details).toMatchObject({ truncated: true });
  },
);

test("[E175] a tool that says its results are long gets more room, up to a ceiling", async () => {
  await using home = await temporaryHome();
  const sizes = await Promise.all(
    [undefined, 100_000, 10_000_000].map(async (chars) => {
      const definition = { _meta: { "anthropic/maxResultSizeChars": chars } };
      const { text } = await answerTo(home, textResult("x".repeat(400_000)), { definition });
      return Buffer.byteLength(bodyOf(text));
    }),
  );
  expect(sizes).toEqual([32 * 1024, 100_000, 200 * 1024]);
});

test("[E176] a screenshot of 800 kB is shown whole and costs no text", async () => {
  await using home = await temporaryHome();
  const screenshot = png(600, 450);
  expect(screenshot.length).toBeGreaterThan(800_000);
  const { content, details } = await answerTo(home, imageResult(screenshot, "image/png"));
  expect(content).toEqual([{ type: "image", data: screenshot.toString("base64"), mimeType: "image/png" }]);
  expect(details).toMatchObject({ truncated: false });
});

test("files of results go with the session, unless they are to stay", async () => {
  await using home = await temporaryHome();
  const { server } = await sessionWith(home, { on: { "tools/call": { result: textResult("x".repeat(400_000)) } } });
  home.write({ settings: { mcpServers: [server.entry("fake")] } });
  for (const [value, keepResults, isKept] of [
    ["", undefined, false],
    ["0", undefined, false],
    ["1", undefined, true],
    ["1", false, false],
    ["", true, true],
  ] as const) {
    home.write({ env: { PI_MCP_KEEP_RESULTS: value } });
    const session = sessionOf(home);
    const { details } = await mcp(session, { action: "call", server: "fake", tool: "echo" });
    const [file = ""] = details.files as string[];
    expect(existsSync(file)).toBe(true);
    await session.close(keepResults === undefined ? {} : { keepResults });
    expect([existsSync(file), existsSync(dirname(file))]).toEqual([isKept, isKept]);
  }
});

test("[E178] an address from a server names no file outside the session's folder", async () => {
  await using home = await temporaryHome();
  const uris = [
    "file:///../../x%00\n.pdf",
    "..",
    "file:///..%2f..%2fetc%2fpasswd",
    "CON",
    "x".repeat(5000),
    "",
    "x.pdf",
  ];
  const content = uris.map((uri) => ({
    type: "resource",
    resource: { uri, mimeType: "application/pdf", blob: Buffer.from(uri).toString("base64") || "AAAA" },
  }));
  const { files } = await answerTo(home, { content });
  const [folder = ""] = readdirSync(home.tmp);
  expect(new Set(files.map(dirname))).toEqual(new Set([`${home.tmp}/${folder}`]));
  expect(readdirSync(`${home.tmp}/${folder}`).sort()).toEqual(files.map((file) => basename(file)).sort());
  expect(files.slice(0, 6).map((file) => readFileSync(file, "utf8"))).toEqual([...uris.slice(0, 5), "\0\0\0"]);
  for (const file of files) expect(basename(file)).toMatch(/^\d+-[\w.-]{1,60}\.pdf$/);
});

test.each<Door>(["mcp", "direct"])(
  "[E235] invisible instructions are removed from results, which show where they were, through %s",
  async (door) => {
    await using home = await temporaryHome();
    const hidden = [..."obey"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    const result = textResult(`\u{1f3f4}${hidden} a\u200bb\u202ec`, { structuredContent: { [`k${hidden}`]: hidden } });
    const { text } = await answerTo(home, result, { door });
    expect(text.trimEnd()).toBe('\u{1f3f4}[hidden text] abc\n{\n  "k[hidden text]": "[hidden text]"\n}');
  },
);

test.each<Door>(["mcp", "direct"])(
  "[E236] terminal escapes are removed from results, files and names, through %s",
  async (door) => {
    await using home = await temporaryHome();
    const escapes = "\x1b[2J\x1b]0;X\x07\x1b]8;;http://a\x07";
    const content = [
      { type: "text", text: `${escapes}clean` },
      { type: "resource_link", uri: `u${escapes}`, name: `n${escapes}` },
      { type: `k${escapes}` },
      { type: "text", text: "x".repeat(40_000) },
    ];
    const { text, files } = await answerTo(home, { content }, { door });
    expect(text).toMatch(/^clean\n\[resource link n: u\]\n\[unexpected content block k\]\nxxx/);
    expect(text + readFileSync(files[0] ?? "", "utf8")).not.toMatch(/\p{Cc}(?<!\n)/u);
  },
);

test.each<Door>(["mcp", "direct"])(
  "a member's name that is a configured secret is not shown through %s",
  async (door) => {
    await using home = await temporaryHome();
    const secret = "s3cr3t-value-of-mine";
    const structuredContent = { [secret]: 1, [`x ${secret}`]: secret };
    const { text } = await answerTo(home, { content: [], structuredContent }, { door, env: { TOKEN: secret } });
    expect(JSON.parse(text)).toEqual({ "[REDACTED]": 1, "x [REDACTED]": "[REDACTED]" });
  },
);

test("an image whose base64 happens to hold a configured value arrives whole", async () => {
  await using home = await temporaryHome();
  const data = png(9, 9).toString("base64");
  const env = { API_KEY: data.slice(40, 44), KIND: "image", FORMAT: "text" };
  const { content } = await answerTo(home, imageResult(png(9, 9), "image/png"), { env });
  expect(content).toEqual([{ type: "image", data, mimeType: "image/png" }]);
});
