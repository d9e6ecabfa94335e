import { expect, test } from "vitest";
import { REAL } from "../e2e/real-servers.ts";
import { fakeStdio } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf, sessionWith } from "../session/open.ts";
import { openFake, openStdio, textOf } from "./stdio-open.ts";

const junk = (server: { journal(): readonly { type: string }[] }) =>
  server.journal().filter(({ type }) => type === "junk").length;

test("[S1-04] a server that takes only frames with a length is listed and called, with text that is not ASCII", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { framing: "content-length" });
  await using _ = session;
  expect((await mcp(session, { action: "list_tools", server: "fake" })).text).toContain("- echo");
  const args = { text: "日本 é \u{1F600} \u2028" };
  const { text, isError } = await mcp(session, { action: "call", server: "fake", tool: "echo", args });
  expect([isError, text.includes("日本 é \u{1F600}")]).toEqual([false, true]);
  expect(server.methods()).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call"]);
  expect(server.params("tools/call")[0]?.arguments).toEqual(args);
  expect(server.starts()).toHaveLength(1);
});

test("a server that takes lines reads the first frame as one, after two lines of noise, and then lines alone", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, {}, { framing: "auto" });
  await opened.handshake();
  expect(textOf(await opened.call({ a: 1 }))).toBe('{"a":1}');
  expect(opened.server.methods()).toEqual(["initialize", "notifications/initialized", "tools/call"]);
  expect(junk(opened.server)).toBe(2);
  expect(opened.notices).toEqual([]);
});

test("what is sent before the first reply is framed both ways, too", async () => {
  await using home = await temporaryHome();
  for (const framing of ["newline", "content-length"] as const) {
    await using opened = await openFake(home, { framing }, { framing: "auto" });
    const answers = await Promise.all([opened.handshake(), opened.call({ a: 1 }), opened.call({ a: 2 })]);
    expect(answers.slice(1).map((answer) => answer && textOf(answer))).toEqual(['{"a":1}', '{"a":2}']);
  }
});

test("a server of the official SDK understands it with one start", async () => {
  await using home = await temporaryHome({
    settings: { mcpServers: [REAL.everything("everything", "stdio")] },
  });
  await using session = sessionOf(home);
  const args = { message: "ça va" };
  const { text } = await mcp(session, { action: "call", server: "everything", tool: "echo", args });
  expect(text).toContain("Echo: ça va");
});

test("a server that ends at the first line that is no JSON is started once more and gets lines alone", async () => {
  await using home = await temporaryHome();
  const { server, session } = await sessionWith(home, { startup: { exitOnJunk: true } });
  await using _ = session;
  const args = { a: 1 };
  const { text, isError } = await mcp(session, { action: "call", server: "fake", tool: "echo", args });
  expect([isError, text.includes('{"a":1}')]).toEqual([false, true]);
  expect(server.starts()).toHaveLength(2);
  expect(server.methods()).toEqual(["initialize", "notifications/initialized", "tools/call"]);
  expect(session.status("fake")).toMatchObject({ state: "ready", pid: server.starts()[1] });
});

test("what the first process has started is gone before the second is of use", async () => {
  await using home = await temporaryHome();
  const startup = [{ exitOnJunk: true, spawnGrandchild: true }, {}];
  await using opened = await openFake(home, { startup }, { framing: "auto" });
  await opened.handshake();
  expect(opened.server.grandchildren()).toHaveLength(1);
  expect(opened.server.grandchildren().filter(isAlive)).toEqual([]);
});

test("all that was sent to the process that ended is sent to the second, in order and once", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { startup: { exitOnJunk: true } }, { framing: "auto" });
  const answers = await Promise.all([opened.call({ a: 1 }), opened.call({ a: 2 }), opened.call({ a: 3 })]);
  expect(answers.map(textOf)).toEqual(['{"a":1}', '{"a":2}', '{"a":3}']);
  expect(opened.server.params("tools/call").map((params) => params?.arguments)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
});

test("a server that always ends is started no more than twice, and its last words are told once", async () => {
  await using home = await temporaryHome();
  const script = { startup: { stderr: "FATAL: missing API_KEY\n", exit: 3 } };
  await using opened = await openFake(home, script, { framing: "auto" });
  const reason = "its process exited with code 3";
  await expect(opened.request("initialize")).rejects.toMatchObject({ failure: "ended", message: reason });
  expect((await opened.closed).message).toBe(reason);
  expect(opened.server.starts()).toHaveLength(2);
  expect(opened.transport.diagnostics()).toBe("FATAL: missing API_KEY");
});

test("the last words of both processes are told when they differ", async () => {
  await using home = await temporaryHome();
  const startup = [
    { stderr: "cannot read this\n", exitOnJunk: true },
    { stderr: "no port is free\n", exit: 4 },
  ];
  await using opened = await openFake(home, { startup }, { framing: "auto" });
  await expect(opened.request("initialize")).rejects.toMatchObject({ message: "its process exited with code 4" });
  expect(opened.transport.diagnostics()).toBe("cannot read this\nno port is free");
});

test("a process that has replied is not replaced when it ends", async () => {
  await using home = await temporaryHome();
  await using opened = await openFake(home, { on: { "tools/call": { exit: 5 } } }, { framing: "auto" });
  await opened.handshake();
  await expect(opened.call()).rejects.toMatchObject({ message: "its process exited with code 5" });
  expect(opened.server.starts()).toHaveLength(1);
});

test("closing while the second process is on its way leaves none", async () => {
  await using home = await temporaryHome();
  const startup = { exitOnJunk: true, spawnGrandchild: true };
  const opened = await openFake(home, { startup }, { framing: "auto" });
  void opened.request("initialize").catch(() => {});
  await until("the first process to end", () => opened.server.journal().find(({ type }) => type === "exit"));
  await opened.transport.close();
  expect([...opened.server.starts(), ...opened.server.grandchildren()].filter(isAlive)).toEqual([]);
});

test("each framing can be asked for alone", async () => {
  await using home = await temporaryHome();
  for (const framing of ["newline", "content-length"] as const) {
    await using opened = await openFake(home, { framing }, { framing });
    await opened.handshake();
    expect(textOf(await opened.call({ é: 1 }))).toBe('{"é":1}');
    expect(junk(opened.server)).toBe(0);
  }
  const server = await fakeStdio(home, { startup: { exitOnJunk: true } });
  await using opened = await openStdio(home, { ...server, args: server.args, framing: "content-length" });
  await expect(opened.request("initialize")).rejects.toMatchObject({ message: "its process exited with code 1" });
  expect(server.starts()).toHaveLength(1);
});
