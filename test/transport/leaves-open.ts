/**
 * A program that ends without closing anything: it opens a server, listens to it, has a request in the background, waits
 * until the file that is named last exists, and says nothing more. `node leaves-open.ts <url> <ca> <file>`
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { call, initialize, openHttp, request } from "./open.ts";

const [url = "", ca = "", file = ""] = process.argv.slice(2);
const { transport } = await openHttp({ url, env: process.env, ca });
await transport.send(initialize);
transport.listen({});
transport.send(request(2, "subscriptions/listen"), { background: true }).catch(() => {});
await transport.send(call(3));
while (!existsSync(file)) await sleep(20);
process.stdout.write("leaving");
