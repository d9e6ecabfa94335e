/** Another process that is in the middle of a refresh: holds the lock of the server `s` until its input ends. */
import { text } from "node:stream/consumers";
import { openStore } from "../../src/auth/store.ts";

const [root = "", url = ""] = process.argv.slice(2);
await openStore(root, "s", url).alone(async () => {
  console.log("held");
  await text(process.stdin);
});
