import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { certificateAuthority } from "../ground/certificates.ts";
import { temporaryHome } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";
import { until } from "../ground/wait.ts";
import { served } from "./served.ts";

test.each(["http", "https"])("open streams do not keep a process alive (%s)", async (scheme) => {
  await using home = await temporaryHome();
  const authority = certificateAuthority();
  const ca = home.path("ca.pem");
  writeFileSync(ca, authority.cert);
  const script: ServerScript = {
    getStream: true,
    on: { "subscriptions/listen": { raw: ": open\n\n", silent: true } },
  };
  const server = await served(script, scheme === "https" ? { tls: authority.issue("127.0.0.1") } : {});
  const program = fileURLToPath(new URL("leaves-open.ts", import.meta.url));
  const go = home.path("go");
  const args = [program, server.url, ca, go];
  const child = spawn(process.execPath, args, { env: home.env(), stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  await server.until("subscriptions/listen");
  await until("the stream", () => server.push({ method: "ping" }) || undefined);
  writeFileSync(go, "");
  expect(await ended).toEqual([0, null]);
  expect(said).toBe("leaving");
});

test("a request in the foreground does keep it alive, as long as it takes", async () => {
  const server = await served({ on: { "tools/call": { delayMs: 400, text: "late" } } });
  const code = `
    import { call, initialize, openHttp } from ${JSON.stringify(new URL("open.ts", import.meta.url).href)};
    const http = await openHttp({ url: ${JSON.stringify(server.url)} });
    await http.transport.send(initialize);
    http.transport.send(call(2)).then(() => process.stdout.write("answered " + http.messages.length));`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(said).toBe("answered 2");
});
