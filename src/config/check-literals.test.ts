// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` in plain strings is what is tested.
import { afterEach, describe, expect, it } from "vitest";
import { brief, MCP_JSON, removeHomes, SETTINGS, testHome } from "./config.fixture.ts";

afterEach(removeHomes);

const ODD = `{"mcpServers": [
 {"name": "a", "command": "x", "env": {
  "A": "\${T:-hunter2}",
  "B": "!cat hunter2",
  "C": "{env:T}"},
  "args": ["$env:T", "!x", "--to=\${env:T}"], "cwd": "\${D:-/x}"},
 {"name": "b", "url": "https://h/\${P:-x}", "headers": {
  "A": "Bearer \${env:T}",
  "B": "!pass"}, "bearerTokenEnv": "T"},
 {"name": "c", "command": "x", "env": {"A": "$T", "B": "\${T}", "C": "$$", "D": "a!b $5", "E": "!!x", "F": "$!x"}}
]}`;

describe("a settings file", () => {
  it("is warned of what only an mcp.json fills in, at its place and without the values", () => {
    const home = testHome();
    home.write(SETTINGS, ODD);
    const { servers, problems } = home.load();
    expect(servers.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    const texts = brief(problems);
    expect(texts).toEqual([
      expect.stringMatching(
        /^6:12 warning Server "a": "args\[0\]" has "\$env:T", which is filled in in an mcp\.json alone/,
      ),
      expect.stringMatching(/^6:28 warning .*"args\[2\]" has "\$\{env:T\}"/),
      expect.stringMatching(/^6:53 warning .*"cwd" has "\$\{D:-…\}"/),
      expect.stringMatching(/^3:8 warning Server "a": the value of "A" in "env" has "\$\{T:-…\}"/),
      expect.stringMatching(/^4:8 warning .*the value of "B" in "env" begins with "!", which means a command/),
      expect.stringMatching(/^5:8 warning .*the value of "C" in "env" has "\{env:T\}"/),
      expect.stringMatching(/^7:23 warning Server "b": "url" has "\$\{P:-…\}"/),
      expect.stringMatching(/^8:8 warning .*the value of "A" in "headers" has "\$\{env:T\}"/),
      expect.stringMatching(/^9:8 warning .*the value of "B" in "headers" begins with "!"/),
    ]);
    expect(texts.join()).not.toContain("hunter2");
  });

  it("is alone in that: an mcp.json means what it says", () => {
    const home = testHome();
    home.write(MCP_JSON, { mcpServers: { a: { command: "x", env: { A: "${T:-x}" }, args: ["$env:T"] } } });
    expect(home.load().problems).toEqual([]);
  });
});
