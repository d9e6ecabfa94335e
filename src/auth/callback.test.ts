import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { listenForAnswer } from "./callback.ts";

/** The status of what is answered to a request line, as it is written. */
async function statusOf(port: number, target: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(socket, "close");
  return text.split(" ")[1] ?? "";
}

test("whatever is asked for, the listener answers and goes on waiting", async () => {
  const redirect = { uri: "http://localhost/callback", path: "/callback", port: 0, isFixed: false };
  const taken: string[] = [];
  const callback = await listenForAnswer(redirect as never, async (parameters) => {
    taken.push(parameters.get("code") ?? "");
    return { title: "Signed in", text: "" };
  });
  const asked = ["//", "///x", "*", "http://[", "http://[::/callback", "/callback?%zz", "/%", "/callback?code=c"];
  const statuses: string[] = [];
  for (const target of asked) statuses.push(await statusOf(callback.port, target));
  callback.close();
  expect(statuses).toEqual(["400", "404", "400", "400", "400", "200", "404", "200"]);
  expect(taken).toEqual(["", "c"]);
});
