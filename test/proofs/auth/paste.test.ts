/** Completing a sign-in by hand, on a real terminal. */
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { afterwards, answerOf, call, type Place, place } from "../../auth/open.ts";
import { credentials } from "../../auth/stored.ts";
import { cliOnTerminal, hasTerminals, type Terminal } from "../../ground/terminal.ts";

/** Without `iss` in the answer, where a code alone will do. */
const WITHOUT_ISSUER = { metadata: { authorization_response_iss_parameter_supported: undefined } };

/** `pi-mcp auth login s` that waits for something to be pasted, and the address the browser ended at. */
async function login(here: Place, args: readonly string[] = ["--no-browser"], env: Record<string, string> = {}) {
  const terminal = cliOnTerminal(here.home, ["auth", "login", "s", ...args], env);
  afterwards(terminal, async () => {
    terminal.type("\x03");
    await terminal.ended;
  });
  const [url] = await terminal.shows(/^http\S+(?=\r?$)/m);
  await terminal.shows(/paste the address it ended at, or the code, and press Enter\. What is pasted is not shown\./);
  return { terminal, answer: new URL(await answerOf(url)) };
}

async function signedIn(here: Place, terminal: Terminal): Promise<void> {
  expect([await terminal.ended, terminal.shown()]).toEqual([
    0,
    expect.stringContaining("Signed in to MCP server `s`."),
  ]);
  expect(await call(here.open())).toBe("echo hi");
  for (const secret of here.authorization.secrets) expect(terminal.shown()).not.toContain(secret);
  expect(here.authorization.refusals).toEqual([]);
}

describe.runIf(hasTerminals)("on a terminal", () => {
  test.each<[string, (answer: URL) => string]>([
    ["the address", ({ href }) => href],
    ["the address with blanks around it", ({ href }) => `  ${href}  `],
    ["its query", ({ search }) => search],
    ["its query without the mark", ({ search }) => search.slice(1)],
    ["the code", ({ searchParams }) => searchParams.get("code") ?? ""],
  ])("[E106] %s completes it, and is not shown", async (_, paste) => {
    const here = await place({ authorization: WITHOUT_ISSUER });
    const { terminal, answer } = await login(here);
    terminal.type(`${paste(answer)}\r`);
    await signedIn(here, terminal);
  });

  test("[E106] what is wrong is told, and the next try counts", async () => {
    const here = await place();
    const { terminal, answer } = await login(here);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["what now?", /what was pasted is neither the address the browser ended at nor a code/],
      [new URL("/", here.server.url).href, /the pasted address holds no code; paste the one the browser ended at/],
      [answer.href.replace(/state=[^&]+/, "state=other"), /OAuth state mismatch/],
      [answer.searchParams.get("code") ?? "", /a code alone is not enough here; paste the whole address/],
    ];
    for (const [text, said] of wrong) {
      terminal.type(`${text}\r`);
      await terminal.shows(said);
    }
    terminal.type("\r\r");
    expect(here.authorization.seen("/token")).toEqual([]);
    terminal.type(`${answer.href}\r`);
    await signedIn(here, terminal);
  });

  test("[E106] an address that is longer than a line of a terminal arrives whole", async () => {
    const here = await place({
      authorization: { callback: (parameters) => ({ more: "x".repeat(12_000), ...parameters }) },
    });
    const { terminal, answer } = await login(here);
    expect(answer.href.length).toBeGreaterThan(12_000);
    terminal.type(`${answer.href}\r`);
    await signedIn(here, terminal);
  });

  test("Ctrl-C gives it up at once and leaves a working sign-in alone", async () => {
    const here = await place();
    await here.signIn();
    const before = credentials(here.home);
    const { terminal, answer } = await login(here);
    terminal.type(answer.href.slice(0, 20));
    terminal.type("\x03");
    expect(await terminal.ended).toBe(130);
    expect(terminal.shown()).toContain("the sign-in was cancelled");
    expect(credentials(here.home)).toEqual(before);
    expect(await call(here.open())).toBe("echo hi");
  });

  test("the end of the input leaves it to the browser", async () => {
    const here = await place();
    const { terminal, answer } = await login(here);
    terminal.type("\x04");
    await (await fetch(answer)).text();
    await signedIn(here, terminal);
  });

  test("--no-browser opens none, whatever BROWSER says; without it, what BROWSER names is started", async () => {
    const here = await place();
    const opener = here.home.path("opener");
    writeFileSync(opener, `#!/bin/sh\n: > '${opener}.ran'\n`);
    chmodSync(opener, 0o755);
    const first = await login(here, ["--no-browser"], { BROWSER: opener });
    first.terminal.type(`${first.answer.href}\r`);
    expect([await first.terminal.ended, existsSync(`${opener}.ran`)]).toEqual([0, false]);
    const second = await login(here, [], { BROWSER: opener });
    second.terminal.type(`${second.answer.href}\r`);
    expect([await second.terminal.ended, existsSync(`${opener}.ran`)]).toEqual([0, true]);
  });
});
