import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The variable by which pi-acp is told what to start as pi. */
export const PI_COMMAND_VARIABLE = "PI_ACP_PI_COMMAND";

/**
 * A program that starts pi with the extension, for adapters that can be told one program to start and no arguments. Without
 * arguments, as when a person signs in to a model, it is plain pi. Returns its path.
 */
export function writeShim(folder: string, pi: string, extension: string): string {
  const isWindows = process.platform === "win32";
  const path = join(folder, isWindows ? "pi.cmd" : "pi");
  writeFileSync(path, isWindows ? batch(pi, extension) : shell(pi, extension), { mode: 0o700, flag: "wx" });
  if (!isWindows) chmodSync(path, 0o700);
  return path;
}

function shell(pi: string, extension: string): string {
  const [program, entry] = [pi, extension].map((text) => `'${text.replaceAll("'", "'\\''")}'`);
  return `#!/bin/sh\nif [ $# -eq 0 ]; then exec ${program}; fi\nexec ${program} "$@" -e ${entry}\n`;
}

function batch(pi: string, extension: string): string {
  const [program, entry] = [pi, extension].map((text) => `"${text.replaceAll("%", "%%")}"`);
  return `@echo off\r\nif "%~1"=="" (\r\n  call ${program}\r\n) else (\r\n  call ${program} %* -e ${entry}\r\n)\r\n`;
}
