/**
 * One of several that count in one file under one lock: `lock.fixture.ts <lock> <file> <times> <kill>`. Ends itself by SIGKILL
 * while it holds the lock for the `<kill>`th time, before it has counted; 0: never.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { lockAt } from "./lock.ts";

const [path = "", file = "", times = "0", kill = "0"] = process.argv.slice(2);
const tryLock = lockAt(path);
for (let turn = 1; turn <= Number(times); turn++) {
  let lock = tryLock();
  while (!lock) {
    await sleep(1);
    lock = tryLock();
  }
  if (turn === Number(kill)) process.kill(process.pid, "SIGKILL");
  const count = Number(readFileSync(file, "utf8"));
  await sleep(0);
  writeFileSync(file, String(count + 1));
  lock.release();
}
