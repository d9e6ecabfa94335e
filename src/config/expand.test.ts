// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { expandTarget, valueCommands } from "./expand.ts";
import type { HttpTarget, StdioTarget } from "./record.ts";

const VERBATIM = { unsetVariable: "verbatim", variableForms: "plain" } as const;
const EMPTY = { unsetVariable: "empty", variableForms: "all" } as const;

function stdio(rest: Partial<StdioTarget>): StdioTarget {
  return { kind: "stdio", command: "x", args: [], env: {}, ...rest };
}

function http(url: string, headers: Record<string, string> = {}): HttpTarget {
  return { kind: "http", url, headers };
}

/** What one argument becomes. */
function arg(text: string, env: Record<string, string>, policy: typeof VERBATIM | typeof EMPTY = VERBATIM): string {
  const { target } = expandTarget(stdio({ args: [text] }), policy, env);
  return target.kind === "stdio" ? (target.args[0] ?? "") : "";
}

describe("variables", () => {
  it("are replaced in both spellings, anywhere in a value", () => {
    const env = { A: "1", A_B: "2", _x9: "3" };
    expect(arg("$A", env)).toBe("1");
    expect(arg("${A}", env)).toBe("1");
    expect(arg("<$A_B|${A}_B|$A-B|$_x9>", env)).toBe("<2|1_B|1-B|3>");
    expect(arg("$A$A${A}", env)).toBe("111");
  });

  it("leave everything else with a dollar sign alone", () => {
    for (const text of ["$5", "$", "a$", "$ A", "${bad name}", "${}", "${9}", "${A", "$-", "${A:-x}", "$(A)"]) {
      expect(arg(text, { A: "1", bad: "2" }), text).toBe(text);
    }
    expect(arg("$$A", { A: "1" })).toBe("$1");
  });

  it("are not looked for in what they are replaced by", () => {
    expect(arg("$A", { A: "$B ${B} $& $1", B: "2" })).toBe("$B ${B} $& $1");
  });

  it("that are not set stay or vanish by policy, and are named once", () => {
    const target = stdio({ args: ["a$NOPE", "${NOPE}b", "$OTHER", "$SET"] });
    const env = { SET: "" };
    const verbatim = expandTarget(target, VERBATIM, env);
    expect(verbatim.target).toMatchObject({ args: ["a$NOPE", "${NOPE}b", "$OTHER", ""] });
    expect(verbatim.unset).toEqual(["NOPE", "OTHER"]);
    const empty = expandTarget(target, EMPTY, env);
    expect(empty.target).toMatchObject({ args: ["a$NOPE", "b", "$OTHER", ""] });
    expect(empty.unset).toEqual(["NOPE", "OTHER"]);
  });

  it("are replaced in every value and in no name", () => {
    const env = { V: "v", HOME: "/h" };
    expect(
      expandTarget(stdio({ command: "$V", args: ["$V"], env: { $V: "$V" }, cwd: "/$V" }), VERBATIM, env).target,
    ).toEqual({
      kind: "stdio",
      command: "v",
      args: ["v"],
      env: { $V: "v" },
      cwd: "/v",
    });
    expect(expandTarget(http("https://$V/", { $V: "a ${V}" }), VERBATIM, env).target).toEqual({
      kind: "http",
      url: "https://v/",
      headers: { $V: "a v" },
    });
  });
});

describe("all forms", () => {
  const all = (text: string, env: Record<string, string> = {}) => arg(text, env, EMPTY);

  it("[S1-13] are not those of the settings file", () => {
    const env = { A: "1" };
    for (const text of ["${A:-x}", "{env:A}", "$!A", "${env:A}"]) expect(arg(text, env), text).toBe(text);
    expect(arg("$$A", env)).toBe("$1");
  });

  it("are replaced anywhere in a value", () => {
    const env = { A: "1", B: "" };
    for (const form of ["$A", "${A}", "${env:A}", "$env:A", "{env:A}", "${A:-x}", "${env:A:-x}"]) {
      expect(all(`<${form}|${form}>`, env), form).toBe("<1|1>");
    }
  });

  it("have a default for what is not set or empty, taken to the letter", () => {
    expect(all("${A:-x y}/${B:-$C}/${C:-}", { B: "", C: "3" })).toBe("x y/$C/3");
    expect(all("<${NOPE:-}>")).toBe("<>");
    expect(expandTarget(stdio({ args: ["${A:-x}", "${B}"] }), EMPTY, {}).unset).toEqual(["B"]);
  });

  it("[S3-58] leave nothing of a variable that is not set", () => {
    expect(expandTarget(stdio({ env: { A: "${NOPE}", B: "{env:NOPE}x$env:NOPE" } }), EMPTY, {}).target).toMatchObject({
      env: { A: "", B: "x" },
    });
    expect(all("pa$word")).toBe("pa$word");
  });

  it("[E209] are escaped from left to right, and what only begins like one is text", () => {
    const env = { A: "1" };
    expect(all("$$A $${A} $$$A $!x a$!b $$", env)).toBe("$A ${A} $1 !x a!b $");
    for (const text of ["${A%x}", "${A:=x}", "${A", "{env:}", "$ A", "${9}", "{A}", "${A:-{}"]) {
      expect(all(text, env), text).toBe(text);
    }
  });

  it("have the home in arguments too", () => {
    expect(all("~/x", { HOME: "/h" })).toBe("/h/x");
    expect(all("a~/x", { HOME: "/h" })).toBe("a~/x");
  });

  it("hide the default of a secret as well", () => {
    const { secrets } = expandTarget(http("https://h/", { Authorization: "Bearer ${T:-abc}" }), EMPTY, {});
    expect(secrets.map(({ value }) => value)).toContain("abc");
  });
});

describe("a command for a value", () => {
  const target = stdio({
    args: ["!not"],
    env: { A: "! find $X ", B: "!!plain", C: "$!plain", D: "a!b", E: "!find $X" },
  });
  const outputs = new Map([["find $X", "o$X"]]);

  it("is one only where all forms are understood, and not expanded itself", () => {
    expect(valueCommands(target, "all")).toEqual([
      { field: "env", name: "A", command: "find $X" },
      { field: "env", name: "E", command: "find $X" },
    ]);
    expect(valueCommands(target, "plain")).toEqual([]);
    expect(expandTarget(target, VERBATIM, {}).target).toEqual(target);
    expect(valueCommands({ ...http("https://h/", { "X-A": "!a", B: "b!" }), bearerCommand: "c" }, "all")).toEqual([
      { field: "headers", name: "X-A", command: "a" },
      { field: "bearerToken", name: "Authorization", command: "c" },
    ]);
  });

  it("is replaced by its output, in which nothing is looked for", () => {
    expect(expandTarget(target, EMPTY, { X: "x" }, outputs).target).toMatchObject({
      args: ["!not"],
      env: { A: "o$X", B: "!plain", C: "!plain", D: "a!b", E: "o$X" },
    });
    const web = { ...http("https://h/", { "X-A": "!find $X" }), bearerCommand: "find $X" };
    expect(expandTarget(web, EMPTY, {}, outputs).target).toEqual(
      http("https://h/", { "X-A": "o$X", Authorization: "Bearer o$X" }),
    );
  });

  it("has an output that is a secret, however short and whatever it is for", () => {
    const { secrets } = expandTarget(stdio({ env: { A: "!a" } }), EMPTY, {}, new Map([["a", "Bearer x"]]));
    for (const value of ["x", "Bearer x"]) expect(secrets).toContainEqual({ value, isSecret: true });
  });

  it("is not left out when it was not run", () => {
    expect(() => expandTarget(target, EMPTY, {})).toThrow("A command was not run.");
  });
});

describe("any text", () => {
  it("stays as it is when no variable is set and unset ones are kept", () => {
    const pieces = ["$", "{", "}", "A", "_", "9", " ", "$A", "${A}", "~/", "\\", "é"];
    for (let round = 0; round < pieces.length ** 4; round++) {
      let text = "";
      for (let rest = round; rest > 0; rest = Math.floor(rest / pieces.length)) text += pieces[rest % pieces.length];
      expect(arg(text, {})).toBe(text);
    }
  });
});

describe("~", () => {
  it("is the home at the start of the command and the directory", () => {
    const { target } = expandTarget(stdio({ command: "~/bin/$X", cwd: "~", args: ["~/a"] }), VERBATIM, {
      HOME: "/h$X",
      X: "y",
    });
    expect(target).toMatchObject({ command: "/h$X/bin/y", cwd: "/h$X", args: ["~/a"] });
    expect(expandTarget(stdio({ command: "~other/x", cwd: "a/~/b" }), VERBATIM, { HOME: "/h" }).target).toMatchObject({
      command: "~other/x",
      cwd: "a/~/b",
    });
    expect(expandTarget(stdio({ command: "~/x" }), VERBATIM, {}).target).toMatchObject({ command: `${homedir()}/x` });
  });
});

describe("secrets", () => {
  function secretsOf(target: StdioTarget | HttpTarget, env: Record<string, string> = {}): string[] {
    const { secrets } = expandTarget(target, VERBATIM, env);
    return [...new Set(secrets.map(({ value }) => value))];
  }

  it("are all environment values, raw and expanded", () => {
    expect(secretsOf(stdio({ env: { A: "p-$V", B: "plain", C: "" } }), { V: "1" })).toEqual([
      ...["1", "p-$V", "plain", "p-1"],
    ]);
  });

  it("are variables called like one, as parts of something longer too", () => {
    const secrets = secretsOf(stdio({ args: ["x:$MY_TOKEN"], env: { DSN: "db?u=$DB_PASS" } }), {
      MY_TOKEN: "t1",
      DB_PASS: "p1",
    });
    expect(secrets).toEqual(["t1", "p1", "db?u=$DB_PASS", "db?u=p1"]);
    expect(secretsOf(stdio({ command: "$ROOT/x" }), { ROOT: "/usr" })).toEqual([]);
    expect(secretsOf(stdio({ args: ["$MY_TOKEN"] }), { MY_TOKEN: " " })).toEqual([]);
  });

  it("say whether they are one by their name or their looks", () => {
    const isSecret = (target: StdioTarget | HttpTarget, env: Record<string, string> = {}) =>
      Object.fromEntries(expandTarget(target, VERBATIM, env).secrets.map((secret) => [secret.value, secret.isSecret]));
    expect(isSecret(stdio({ env: { A: "x", MY_KEY: "y" } }))).toEqual({ x: false, y: true });
    expect(isSecret(stdio({ args: ["--token", "x", "$A_KEY"] }), { A_KEY: "y" })).toEqual({ x: true, y: true });
    expect(isSecret(http("https://u:p@h/?a=x&key=y", { "X-A": "1", "X-Key": "2" }))).toEqual({
      ...{ u: false, p: true, x: false, y: true },
      ...{ 1: false, 2: true },
    });
  });

  it("are header values and the credentials in them", () => {
    const secrets = secretsOf(http("https://h/", { Authorization: "Bearer $T", "X-Api-Key": "k1" }), { T: "abc" });
    expect(secrets).toEqual(["abc", "Bearer $T", "$T", "k1", "Bearer abc"]);
  });

  it("are not the bare scheme when the variable behind it is empty", () => {
    const { secrets } = expandTarget(http("https://h/", { Authorization: "Bearer $NOPE" }), EMPTY, {});
    expect(new Set(secrets.map(({ value }) => value))).toEqual(new Set(["Bearer $NOPE", "$NOPE"]));
  });

  it("are the user and the query values of an address, as written and decoded", () => {
    const secrets = secretsOf(http("https://us%40er:p%2Fw@h/mcp?key=a%20b&x&y=#z"));
    expect(secrets).toEqual(["us%40er", "us@er", "p%2Fw", "p/w", "a%20b", "a b", "x"]);
  });

  it("are arguments that are secrets by name or looks, and passwords in addresses", () => {
    const args = [
      "--api-key",
      "k1",
      "--mode=fast",
      "--db=postgres://u:pw1@h/d?token=t1&x=2",
      "ghp_abcdef",
      "Authorization: Bearer b1",
    ];
    const secrets = secretsOf(stdio({ args, env: { URL: "https://u:pw2@h/" } }));
    expect(secrets).toEqual(expect.arrayContaining(["k1", "pw1", "t1", "ghp_abcdef", "b1", "pw2"]));
    for (const plain of ["fast", "2", "u"]) expect(secrets).not.toContain(plain);
    const script = 'A_KEY=k234 curl -H "Authorization: Bearer b234" https://u:pw3@h/ --token t234';
    expect(secretsOf(stdio({ args: ["-c", script] }))).toEqual(expect.arrayContaining(["k234", "b234", "pw3", "t234"]));
  });
});
