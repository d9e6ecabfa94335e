import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../../test/ground/wait.ts";
import { openBrowser } from "./browser.ts";

/** Each opener writes down its arguments, one a line. */
let folder: string;
const openers = ["xdg-open", "open", "rundll32.exe"];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opener-"));
  for (const name of openers) {
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/heard.part"\nmv "${folder}/heard.part" "${folder}/heard"\n`;
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function open(address: string, { platform = "linux", env = {} as NodeJS.ProcessEnv, isTty = true } = {}): boolean {
  const system = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  const terminals = [process.stdin, process.stdout].map((stream) => [stream, stream.isTTY] as const);
  Object.defineProperty(process, "platform", { ...system, value: platform });
  for (const [stream] of terminals) stream.isTTY = isTty;
  try {
    return openBrowser(address, { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ":0", ...env });
  } finally {
    Object.defineProperty(process, "platform", system);
    for (const [stream, was] of terminals) stream.isTTY = was;
  }
}

function heard(): Promise<string[]> {
  const file = join(folder, "heard");
  return until("the opener", () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : undefined));
}

describe("[E232] an address that a server has named", () => {
  test.each<[string, readonly string[]]>([
    ["linux", []],
    ["darwin", []],
    ["win32", ["url.dll,FileProtocolHandler"]],
  ])("is one argument of the opener, with nothing in it that a shell would read (%s)", async (platform, before) => {
    const address = `http://127.0.0.1:1/authorize?a=$(touch ${folder}/run)&calc=\`touch ${folder}/run\`&b="%USERPROFILE%'|;<>^\n--help`;
    expect(open(address, { platform })).toBe(true);
    const words = await heard();
    expect(words).toEqual([...before, new URL(address).href]);
    expect(words.at(-1)).not.toMatch(/[\s"<>]/);
    expect(existsSync(join(folder, "run"))).toBe(false);
  });

  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://a:$(calc)@h/",
    "&calc",
    "C:\\x.exe",
    "data:text/html,x",
  ])("is not opened when it is %s", (address) => {
    expect(open(address)).toBe(false);
  });
});

test.each([
  ["my-browser --new", ["--new", "ADDRESS"]],
  ["my-browser %s --quiet", ["ADDRESS", "--quiet"]],
])("BROWSER=%j is the person's word, also over SSH", async (named, args) => {
  renameSync(join(folder, "xdg-open"), join(folder, "my-browser"));
  const address = "http://127.0.0.1:1/authorize?a=1&b=2";
  expect(open(address, { env: { BROWSER: named, DISPLAY: "", SSH_CONNECTION: "1" } })).toBe(true);
  expect(await heard()).toEqual(args.map((arg) => (arg === "ADDRESS" ? address : arg)));
});

test("no browser is opened where there is none", () => {
  const address = "http://127.0.0.1:1/";
  expect(open(address, { isTty: false })).toBe(false);
  for (const name of ["SSH_CONNECTION", "SSH_TTY", "CI"]) expect(open(address, { env: { [name]: "1" } })).toBe(false);
  expect(open(address, { env: { DISPLAY: "" } })).toBe(false);
  expect(existsSync(join(folder, "heard"))).toBe(false);
});
