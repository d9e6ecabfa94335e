/** Signing in with a real browser: Debian's Chromium, without a window, in which somebody presses what a person would press. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterwards, call, homeOf, type Place, place } from "../auth/open.ts";
import { credentials } from "../auth/stored.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { oidcPlace } from "../ground/oidc-provider.ts";
import { cliOnTerminal, type Terminal } from "../ground/terminal.ts";
import { until } from "../ground/wait.ts";

/** Of scripts/browser.ts, which says what to do where it is missing. */
const CHROMIUM = process.env.PI_MCP_CHROMIUM ?? "/usr/bin/chromium";

/** No network but this computer, nothing in the background, nothing of the person's own. */
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage"],
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

let browserHome: Home;
let browser: BrowserContext;

beforeAll(async () => {
  browserHome = await temporaryHome();
  const env = browserHome.env({ NO_PROXY: "*", HTTP_PROXY: "", HTTPS_PROXY: "" });
  const options = { executablePath: CHROMIUM, headless: true, args: FLAGS, env };
  browser = await chromium.launchPersistentContext(browserHome.path("profile"), options);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await browserHome?.remove();
});

interface Login {
  readonly terminal: Terminal;
  /** What the person's browser was told to open. */
  readonly address: string;
}

/** `pi-mcp auth login s` on a terminal; its browser is a program that writes down what it is to open. */
async function login(home: Home, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Login> {
  const opener = home.path("opener");
  const opened = home.path("opened");
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`);
  chmodSync(opener, 0o755);
  rmSync(opened, { force: true });
  const terminal = cliOnTerminal(home, ["auth", "login", "s", ...args], { BROWSER: opener, ...env });
  afterwards(terminal, async () => {
    terminal.type("\x03");
    await terminal.ended;
  });
  const address = await until(`the browser; the terminal shows ${terminal.shown()}`, () =>
    existsSync(opened) ? readFileSync(opened, "utf8") : undefined,
  );
  // The opener may be faster than the terminal.
  await until("the address on the terminal", () => terminal.shown().includes(address) || undefined);
  return { terminal, address };
}

async function open(address: string): Promise<Page> {
  const page = await browser.newPage();
  afterwards(page, () => page.close());
  await page.goto(address);
  return page;
}

const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
const heading = (page: Page) => page.getByRole("heading").textContent();

function withConsent(more: Parameters<typeof place>[0] = {}): Promise<Place> {
  return place({ ...more, authorization: { ...more.authorization, consent: true } });
}

test("a person allows it: the page says so and holds nothing of the answer, and the tools can be used", async () => {
  const here = await withConsent();
  const { terminal, address } = await login(here.home);
  const page = await open(address);
  expect(await heading(page)).toBe("Let pi-mcp in?");
  await press(page, "Allow");
  await page.waitForURL(/\/callback$/);
  expect([await page.title(), await heading(page), await page.locator("p").textContent()]).toEqual([
    "Signed in",
    "Signed in",
    "You can close this window and go back to where you began.",
  ]);
  // Its own style and script, and no others, are allowed to work.
  expect(await page.evaluate("getComputedStyle(document.body).maxWidth")).toBe("576px");
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toContain("Signed in to MCP server `s`.");
  const { state = "" } = Object.fromEntries(new URL(address).searchParams);
  const seen = [page.url(), await page.content(), await page.evaluate("document.referrer + location.href")];
  for (const secret of [...here.authorization.secrets, state]) expect(seen.join("\n")).not.toContain(secret);
  for (const secret of here.authorization.secrets) expect(terminal.shown()).not.toContain(secret);
  expect(await call(here.open())).toBe("echo hi");
  expect(here.authorization.refusals).toEqual([]);
});

test("a person denies it: both sides say so, and a former sign-in stays", async () => {
  const here = await withConsent();
  const first = await login(here.home);
  await press(await open(first.address), "Allow");
  expect(await first.terminal.ended).toBe(0);
  const before = credentials(here.home);
  const { terminal, address } = await login(here.home);
  const page = await open(address);
  await press(page, "Deny");
  await page.waitForURL(/\/callback$/);
  expect(await heading(page)).toBe("Not signed in");
  expect(await page.locator("p").textContent()).toContain("access_denied: The person <b>said</b> no");
  expect(await page.locator("b").count()).toBe(0);
  expect(await terminal.ended).toBe(5);
  expect(terminal.shown()).toContain("access_denied");
  expect(credentials(here.home)).toEqual(before);
  expect(await call(here.open())).toBe("echo hi");
});

describe("who does not finish", () => {
  test("closes the tab: it ends with its time, and nothing is stored", async () => {
    const here = await withConsent();
    const { terminal, address } = await login(here.home, ["--timeout", "4"]);
    await (await open(address)).close();
    expect(await terminal.ended).toBe(5);
    expect(terminal.shown()).toContain("nobody signed in within the time that was given");
    expect(() => credentials(here.home)).toThrow(/ENOENT/);
  });

  test("comes after it was given up: nobody is there, and nothing is stored", async () => {
    const here = await withConsent();
    const { terminal, address } = await login(here.home);
    const page = await open(address);
    terminal.type("\x03");
    expect(await terminal.ended).toBe(130);
    await press(page, "Allow");
    await page.waitForURL(/^chrome-error:/);
    expect(here.authorization.seen("/token")).toEqual([]);
    expect(() => credentials(here.home)).toThrow(/ENOENT/);
  });
});

test("of two tabs with the same address the first counts; the second changes nothing", async () => {
  const here = await withConsent();
  const { terminal, address } = await login(here.home);
  const [one, two] = [await open(address), await open(address)];
  await press(two, "Allow");
  await two.waitForURL(/\/callback$/);
  expect(await terminal.ended).toBe(0);
  const before = credentials(here.home);
  await press(one, "Allow");
  await one.waitForURL(/^chrome-error:/);
  expect(credentials(here.home)).toEqual(before);
  expect(here.authorization.seen("/token")).toHaveLength(1);
  expect(await call(here.open())).toBe("echo hi");
});

test("two sign-ins at once, each in its tab, are in nobody's way", async () => {
  const one = await withConsent();
  const two = await withConsent();
  const [first, second] = [await login(one.home), await login(two.home)];
  const pages = [await open(first.address), await open(second.address)] as const;
  await press(pages[1], "Allow");
  await press(pages[0], "Allow");
  expect([await first.terminal.ended, await second.terminal.ended]).toEqual([0, 0]);
});

test("an answer that is stale, or a stranger's, is told so and leaves the sign-in open", async () => {
  const here = await withConsent();
  const { terminal, address } = await login(here.home);
  const callback = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
  callback.search = "?code=stolen&state=of-last-week";
  const stale = await open(callback.href);
  expect(await heading(stale)).toBe("This is no answer to a sign-in that waits");
  expect(stale.url()).toBe(`${callback.origin}${callback.pathname}`);
  callback.search = "?error=access_denied&error_description=%3Cscript%3Edocument.title%3D%22x%22%3C%2Fscript%3E";
  expect(await heading(await open(callback.href))).toBe("This is no answer to a sign-in that waits");
  const page = await open(address);
  await press(page, "Allow");
  await page.waitForURL(/\/callback$/);
  expect(await heading(page)).toBe("Signed in");
  expect(await terminal.ended).toBe(0);
});

test("where the callback's port is taken, the address the browser ends at is pasted", async () => {
  const here = await withConsent();
  const other = createServer((_, response) => void response.end("Something else."));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  afterwards(other, () => new Promise((resolve) => other.close(resolve).closeAllConnections()));
  const taken = String((other.address() as AddressInfo).port);
  const { terminal, address } = await login(here.home, [], { MCP_OAUTH_CALLBACK_PORT: taken });
  expect(terminal.shown()).toContain(`OAuth callback port ${taken} is already in use`);
  const page = await open(address);
  await press(page, "Allow");
  await page.waitForURL(/\/callback\?/);
  terminal.type(`${page.url()}\r`);
  expect(await terminal.ended).toBe(0);
  expect(await call(here.open())).toBe("echo hi");
});

test("at an authorization server that is not ours: a login, a consent, and back", async () => {
  const oidc = await oidcPlace();
  afterwards(oidc, () => oidc.close());
  const { home, open: openSession } = await homeOf(oidc.url);
  const { terminal, address } = await login(home);
  const page = await open(address);
  await page.getByPlaceholder("Enter any login").fill("ada");
  await page.getByPlaceholder("and password").fill("any");
  await press(page, "Sign-in");
  await press(page, "Continue");
  await page.waitForURL(/\/callback$/);
  expect(await heading(page)).toBe("Signed in");
  expect(await terminal.ended).toBe(0);
  expect(await call(openSession())).toBe("echo hi");
  const again = await login(home);
  const other = await open(again.address);
  // It knows the person by now, and asks again for lasting access.
  await other.getByRole("link", { name: "Cancel" }).click();
  await other.waitForURL(/\/callback$/);
  expect(await heading(other)).toBe("Not signed in");
  expect(await again.terminal.ended).toBe(5);
});
