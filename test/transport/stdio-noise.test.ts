import { expect, test } from "vitest";
import { temporaryHome } from "../ground/home.ts";
import { openFake, textOf } from "./stdio-open.ts";

/** A result of one text block, as JSON, with the id of the request in it. */
const answer = (text: string) =>
  `{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":"${text}"}]}}`;

test("[E001] a banner before the first answer is skipped, counted and told once", async () => {
  await using home = await temporaryHome();
  const banner = 'Server v1 starting...\n[info] {"not":"rpc"}\n';
  await using opened = await openFake(home, {
    startup: { stdout: banner },
    on: { "tools/call": { raw: [banner, `${answer("ok")}\n`] } },
  });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
  expect(textOf(await opened.call())).toBe("ok");
  expect(opened.notices).toEqual(["2 line(s) on stdout were not MCP messages, the first: Server v1 starting..."]);
  expect(opened.transport.diagnostics()).toBe(
    "--- server stdout ---\n6 line(s) on stdout were not MCP messages, the first: Server v1 starting...",
  );
});

test("[E002] lines that are no objects of JSON-RPC are noise, and one notice", async () => {
  await using home = await temporaryHome();
  const lines = ["2026-01-01 x", "-----", "123", '"s"', "null", "[]", "{}", '{"id":null}'];
  await using opened = await openFake(home, { startup: { stdout: `${lines.join("\n")}\n` } });
  await opened.handshake();
  expect(opened.messages).toHaveLength(1);
  expect(opened.notices).toEqual(["8 line(s) on stdout were not MCP messages, the first: 2026-01-01 x"]);
});

test("[E004] an answer glued behind a prompt is found; a broken one fails its call at once and is named", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, {
    on: {
      initialize: { raw: `prompt> {"jsonrpc":"2.0","id":{{id}},"result":{}}\n` },
      "tools/call": { raw: `prompt> ${answer("x").slice(0, -9)}\n` },
    },
  });
  await opened.handshake();
  await expect(opened.call()).rejects.toThrow(
    /^its answer is not valid JSON: prompt> \{"jsonrpc":"2\.0","id":2,"result"/,
  );
});

test("[E005] lines that end with CRLF are lines", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { on: { "tools/call": { raw: `${answer("ok")}\r\n\r\n` } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
  expect(opened.notices).toEqual([]);
});

test("[E011] a character that comes in two pieces is one", async () => {
  await using home = await temporaryHome();
  const [head = "", tail = ""] = answer("|").split("|");
  const [first, ...rest] = Buffer.from("日");
  const half = (...bytes: (number | undefined)[]) => ({ base64: Buffer.from(bytes as number[]).toString("base64") });
  await using opened = await openFake(home, {
    on: { "tools/call": { raw: [head, half(first), { pauseMs: 50 }, half(...rest), `${tail}\n`] } },
  });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("日");
});

test("a byte order mark before the first message is skipped", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { startup: { stdout: "\uFEFF" } });
  await opened.handshake();
  expect(opened.notices).toEqual([]);
});

test("[E013] a batch of answers is unpacked", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { on: { "tools/call": { raw: `[${answer("ok")}]\n` } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
});

test("[E014] an answer to a notification is nothing, and an answer without jsonrpc is one", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, {
    on: {
      "notifications/initialized": { raw: '{"jsonrpc":"2.0","result":{}}\n' },
      "tools/call": { raw: `${answer("ok").replace('"jsonrpc":"2.0",', "")}\n` },
    },
  });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
});

test("[E008] an answer of 12 MB on one line is an answer", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { on: { "tools/call": { text: "x".repeat(12_000_000) } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toHaveLength(12_000_000);
});

test.each(["newline", "content-length"] as const)(
  "[E008] an answer over the cap fails its own call alone, in frames by %s",
  async (framing) => {
    await using home = await temporaryHome();
    const big = { text: "x".repeat(3_000_000) };
    const script = {
      framing,
      on: { "tools/call": [{ ...big, delayMs: 100 }, { text: "small" }, big, { text: "later" }] },
    };
    await using opened = await openFake(home, script, { framing, maxMessageBytes: 1024 * 1024 });
    await opened.handshake();
    const tooLarge = /^its answer is too large: MCP message body of 30000\d\d bytes exceeds the 1048576-byte limit$/;
    const calls = await Promise.allSettled([opened.call(), opened.call()]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    await expect(opened.call()).rejects.toThrow(tooLarge);
    expect(textOf(await opened.call())).toBe("later");
    expect(opened.server.starts()).toHaveLength(1);
  },
);

test("a flood of 80 MB without a line end is noise, and the server is of use afterwards", async () => {
  await using home = await temporaryHome();
  const flood = { repeat: "flood ", times: 14_000_000 };
  await using opened = await openFake(home, { on: { "tools/call": { raw: [flood, `\n${answer("ok")}\n`] } } });
  await opened.handshake();
  expect(textOf(await opened.call())).toBe("ok");
  expect(opened.notices).toEqual([
    expect.stringMatching(
      /^1 line\(s\) .*: MCP message body of 84000000 bytes exceeds the 67108864-byte limit: flood /,
    ),
  ]);
});
