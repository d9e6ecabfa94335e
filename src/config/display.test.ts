// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { describe, expect, it } from "vitest";
import { displayServer, displayTarget } from "./display.ts";
import { ORIGINS } from "./origins.ts";

function command(args: string[], env: Record<string, string> = {}): string {
  return displayTarget({ kind: "stdio", command: "x", args, env });
}

function address(url: string, headers: Record<string, string> = {}): string {
  return displayTarget({ kind: "http", url, headers });
}

describe("displayServer", () => {
  it("shows the transport and the target, or the transport alone", () => {
    const target = { kind: "stdio", command: "npx", args: ["-y", "x"], env: {} } as const;
    expect(displayServer({ target, policy: ORIGINS.settings })).toBe("stdio: npx -y x");
    expect(displayServer({ target, policy: { ...ORIGINS.settings, showTarget: false } })).toBe("stdio");
    const http = { kind: "http", url: "https://h/mcp", headers: {} } as const;
    expect(displayServer({ target: http, policy: ORIGINS.mcpjson })).toBe("http: https://h/mcp");
  });
});

describe("a command line", () => {
  it("is shown as configured", () => {
    expect(command(["-y", "@scope/server@1.2", "--", "--option=value", "$HOME/x", "${DIR}"])).toBe(
      "x -y @scope/server@1.2 -- --option=value $HOME/x ${DIR}",
    );
    expect(command(["a b", "", 'q"', "l\n"])).toBe('x "a b" "" "q\\"" "l\\n"');
  });

  it("has its secrets masked where all of it stands in the place of the program", () => {
    const shown = (line: string) => displayTarget({ kind: "stdio", command: line, args: ["a"], env: {} });
    expect(shown("npx -y x --api-key hunter2 --verbose")).toBe('"npx -y x --api-key *** --verbose" a');
    expect(shown("TOKEN=hunter2 npx x")).toBe("TOKEN=*** a");
    expect(displayTarget({ kind: "stdio", command: "--token", args: ["a"], env: {} })).toBe("--token a");
  });

  it("has its secrets masked", () => {
    for (const [args, shown] of [
      [["--token", "abc", "y"], "x --token *** y"],
      [["--api-key=abc"], "x --api-key=***"],
      [["--apiKey", "-abc"], "x --apiKey ***"],
      [["--env=API_KEY=hunter2", "--env=PORT=8080"], "x --env=API_KEY=*** --env=PORT=8080"],
      [["-e", "GITHUB_TOKEN=abc", "--rm"], "x -e GITHUB_TOKEN=*** --rm"],
      [["--header", "Authorization: Bearer abc"], 'x --header "Authorization: ***"'],
      [["--header=X-Api-Key:abc"], "x --header=X-Api-Key:***"],
      [["ghp_abcdefgh"], "x ***"],
      [["sk-abc"], "x ***"],
      [["https://u:p@h/a?key=v&w#f"], "x https://***@h/a?key=***&***#***"],
      [["--url=https://u:p@h/"], "x --url=https://***@h/"],
    ] as const) {
      expect(command([...args])).toBe(shown);
    }
  });

  it("has the secrets inside an argument masked, too", () => {
    const token = `ghp_${"a1".repeat(18)}`;
    for (const [script, shown] of [
      [`curl -H 'Authorization: Bearer ${token}' x`, "curl -H 'Authorization: ***' x"],
      ["export API_KEY=hunter2hunter2; exec server", "export API_KEY=***; exec server"],
      ["A_KEY='two words' B=1 server --token abcd --port 80", "A_KEY='***' B=1 server --token *** --port 80"],
      [`echo ${token}|server`, "echo ***|server"],
      ['{"n": 1, "apiKey": "abcd", "list": []}', '{"n": 1, "apiKey": "***", "list": []}'],
      ["server https://u:p@h/a?key=v https://h/b", "server https://***@h/a?key=*** https://h/b"],
      ["TOKEN=$TOKEN server --token ${TOKEN}", "TOKEN=$TOKEN server --token ${TOKEN}"],
      ["sort --key 2 | grep --no-auth word", "sort --key 2 | grep --no-auth word"],
    ] as const) {
      expect(command(["-c", `exec ${script}`])).toBe(`x -c ${JSON.stringify(`exec ${shown}`)}`);
    }
  });

  it("is shown soon, however long an argument is", () => {
    const size = 1024 * 1024;
    for (const piece of ["a", "-", "H", "--a ", "a=", 'a="', "'a", '"a:', "sk-", "eyJ", "a:", "://", " "]) {
      expect(command([piece.repeat(size / piece.length)]).length).toBeGreaterThan(0);
    }
  }, 60_000);

  it("never shows a configured value of eight characters or more, wherever it stands", () => {
    const secret = "s3cret-0";
    const places = [
      "",
      "a",
      "-",
      "--x=",
      "--token",
      "https://",
      "https://u:",
      "@h/",
      "?q=",
      "&",
      "Authorization: ",
      '"',
      " ",
    ];
    for (const before of places) {
      for (const after of places) {
        for (const first of places) {
          expect(command([first, before + secret + after], { ANY: secret })).not.toContain(secret);
          expect(address(before + secret + after, { ANY: secret })).not.toContain(secret);
        }
      }
    }
  });

  it("shows a secret that is only named", () => {
    expect(command(["--token", "$TOKEN", "--key=${KEY}", "Authorization: Bearer $T"], { TOKEN: "$TOKEN" })).toBe(
      'x --token $TOKEN --key=${KEY} "Authorization: Bearer $T"',
    );
  });

  it("does not take every word behind a flag for a secret", () => {
    expect(command(["--no-auth", "server", "--token", "--verbose", "--key", "-y", "--port", "80"])).toBe(
      "x --no-auth server --token --verbose --key -y --port 80",
    );
  });

  it("has configured environment values masked", () => {
    expect(command(["--a=longvalue1", "plongvalue1q"], { A: "longvalue1" })).toBe("x --a=*** p***q");
    expect(command(["node", "--m=node", "nodejs"], { A: "node" })).toBe("x *** --m=*** nodejs");
    expect(command(["a7b", "7"], { PASS: "7", PORT: "80" })).toBe("x a***b ***");
  });
});

describe("an address", () => {
  it("is shown without user, query values and fragment", () => {
    expect(address("https://h:8080/a/b")).toBe("https://h:8080/a/b");
    expect(address("https://user:pw@h/mcp?key=v&flag&empty=#frag")).toBe("https://***@h/mcp?key=***&***&empty=#***");
    expect(address("https://${USER}:${PW}@$HOST/mcp?key=${KEY}")).toBe("https://***@$HOST/mcp?key=***");
  });

  it("is shown without what looks like a key in its path, or equals a header", () => {
    expect(address("https://h/s/ab12cd34ef56ab12cd34ef56/mcp")).toBe("https://h/s/***/mcp");
    expect(address("https://h/a-long-but-readable-name/mcp")).toBe("https://h/a-long-but-readable-name/mcp");
    expect(address("https://h/headervalue/mcp", { X: "headervalue" })).toBe("https://h/***/mcp");
  });
});
