import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram, programPlaces } from "./find-program.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "find-program-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function file(path: string, text: string, mode = 0o755): string {
  const whole = join(root, path);
  mkdirSync(join(whole, ".."), { recursive: true });
  writeFileSync(whole, text);
  chmodSync(whole, mode);
  return whole;
}

describe("findProgram", () => {
  it("finds a name in the first folder of the given PATH that has it, and says where it looked before", () => {
    const path = file("b/tool", "#!/bin/sh\n");
    file("c/tool", "#!/bin/sh\n");
    const env = { PATH: [join(root, "a"), join(root, "b"), join(root, "c")].join(":") };
    expect(findProgram("tool", { env, cwd: root })).toEqual({ path, looked: [join(root, "a/tool"), path] });
    expect(findProgram("other", { env, cwd: root })).toEqual({
      looked: ["a", "b", "c"].map((folder) => join(root, folder, "other")),
      fault: "was not found",
    });
  });

  it("takes a path from the working directory, and an empty folder in PATH for that", () => {
    const path = file("bin/tool", "#!/bin/sh\n");
    expect(findProgram("bin/tool", { env: {}, cwd: root }).path).toBe(path);
    expect(findProgram("tool", { env: { PATH: "/nowhere::/bin" }, cwd: join(root, "bin") }).path).toBe(path);
    expect(findProgram("sh", { env: {}, cwd: root }).path).toMatch(/^(\/usr)?\/bin\/sh$/);
  });

  it("goes past what cannot be run, and says so when nothing else is there", () => {
    const plain = file("a/tool", "#!/bin/sh\n", 0o644);
    const good = file("b/tool", "#!/bin/sh\n");
    mkdirSync(join(root, "a/folder"));
    const PATH = `${join(root, "a")}:${join(root, "b")}`;
    expect(findProgram("tool", { env: { PATH }, cwd: root }).path).toBe(good);
    expect(findProgram(plain, { env: {}, cwd: root }).fault).toBe(`${plain} is not executable`);
    expect(findProgram("/dev/null", { env: {}, cwd: root }).fault).toBe("/dev/null is no regular file");
    expect(findProgram("folder", { env: { PATH }, cwd: root }).fault).toBe(`${join(root, "a/folder")} is a folder`);
  });

  it("looks into a script for what the system would call not found", () => {
    const fault = (text: string) => findProgram(file("script", text), { env: { PATH: "/bin:/usr/bin" }, cwd: root });
    expect(fault("#!/no/python\n").fault).toBe("needs /no/python, which is not there");
    expect(fault("#!/usr/bin/env no-python-here\n").fault).toBe("needs `no-python-here`, which is not on its PATH");
    expect(fault("#!/usr/bin/env -S A=1 no-python-here -u\n").fault).toMatch(/^needs `no-python-here`/);
    expect(fault("#!/bin/sh\r\n").fault).toMatch(/Windows line ending/);
    expect(fault("#!python\n").fault).toMatch(/without the complete path/);
    expect(fault("echo hi\n")).toMatchObject({
      path: join(root, "script"),
      remark: expect.stringMatching(/no "#!" line/),
    });
    expect(fault("").remark).toMatch(/no "#!" line/);
    for (const good of ["#!/bin/sh\n", "#! /bin/sh -e", "#!/usr/bin/env sh\n", "\x7fELF\x02\x01", "MZ\0\0"]) {
      expect(fault(good)).toEqual({ path: join(root, "script"), looked: [join(root, "script")] });
    }
    file("loop", `#!/usr/bin/env loop\n`);
    expect(findProgram("loop", { env: { PATH: root }, cwd: root }).path).toBe(join(root, "loop"));
  });
});

describe("programPlaces on Windows", () => {
  const places = (command: string, env: NodeJS.ProcessEnv) =>
    programPlaces(command, { env, cwd: "C:\\work", platform: "win32" });

  it("are the working directory and the folders of Path, with each ending of PATHEXT", () => {
    expect(places("npx", { Path: 'C:\\node;"D:\\my tools"', PATHEXT: ".EXE;.CMD" })).toEqual([
      "C:\\work\\npx.exe",
      "C:\\work\\npx.cmd",
      "C:\\node\\npx.exe",
      "C:\\node\\npx.cmd",
      "D:\\my tools\\npx.exe",
      "D:\\my tools\\npx.cmd",
    ]);
    expect(places("npx", {})).toEqual(["exe", "cmd", "bat", "com"].map((ending) => `C:\\work\\npx.${ending}`));
  });

  it("are one for a path, and begin with the name as it is when it has an ending", () => {
    expect(places("bin\\tool.exe", { PATH: "C:\\node", PATHEXT: ".EXE" })).toEqual([
      "C:\\work\\bin\\tool.exe",
      "C:\\work\\bin\\tool.exe.exe",
    ]);
    expect(places("C:/x/tool", { PATHEXT: ".CMD" })).toEqual(["C:\\x\\tool.cmd"]);
  });
});
