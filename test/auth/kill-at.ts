/**
 * Loaded before a program (`node --import`): ends it by SIGKILL at one step of a refresh, named in `KILL_AT`. A step is a
 * moment between two changes of the disk; what goes over the network is the test's own affair.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const die = () => process.kill(process.pid, "SIGKILL");
const step = process.env.KILL_AT;
const { renameSync, writeFileSync } = fs;

fs.renameSync = (from, to) => {
  const isLock = String(to).endsWith("refresh.lock");
  const isStore = String(to).endsWith("tokens.json");
  if ((step === "before the lock" && isLock) || (step === "answered" && isStore)) die();
  renameSync(from, to);
  if ((step === "holding" && isLock) || (step === "written" && isStore)) die();
};

fs.writeFileSync = (file, data, options) => {
  writeFileSync(file, data, options);
  if (step === "noted" && String(file).includes("note-")) die();
};

syncBuiltinESMExports();
