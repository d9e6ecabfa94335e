import { expect, test } from "vitest";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { expandOAuth } from "./oauth.ts";
import { ORIGINS } from "./origins.ts";
import type { ConfigProblem } from "./record.ts";
import { readServer } from "./server.ts";

function read(entry: object) {
  const problems: ConfigProblem[] = [];
  const [found] = readEntries(documentOf(JSON.stringify({ mcpServers: { s: entry } })), problems).values();
  const server = found && readServer(found, "mcpjson", problems);
  return { server, problems: brief(problems) };
}

const http = { url: "https://h/mcp" };

test.each<[object, unknown]>([
  [{}, undefined],
  [{ oauth: true }, undefined],
  [{ oauth: false }, false],
  [{ auth: false }, false],
  [{ auth: "oauth" }, undefined],
  [{ oauth: { enabled: false } }, false],
  [{ oauth: {} }, {}],
  [
    { oauth: { clientId: " a ", callbackUrl: "http://localhost:1/cb", scopes: ["x", "y"], clientSecretEnvVar: "S" } },
    { clientId: "a", redirectUri: "http://localhost:1/cb", scope: "x y", clientSecret: "${S}" },
  ],
  [
    { oauth: { grantType: "urn:ietf:params:oauth:grant-type:jwt-bearer", authParams: { a: "b" }, dpop: true } },
    { grantType: "jwt-bearer", authorizationParams: { a: "b" }, dpop: true },
  ],
])("%j means %j", (entry, oauth) => {
  expect(read({ ...http, ...entry }).server?.oauth).toEqual(oauth);
});

test.each<[object, RegExp]>([
  [{ clientId: 5 }, /"clientId" in "oauth" must be a string/],
  [{ grantType: "password" }, /"grantType" in "oauth" must be one of "authorization_code"/],
  [{ callbackPort: 70_000 }, /"callbackPort" in "oauth" must be the number of a port/],
  [{ clientSecret: "!pass show x" }, /"clientSecret" in "oauth" is a command/],
  [{ dpop: "yes" }, /"dpop" in "oauth" must be true or false/],
  [{ authorizationParams: { a: 1 } }, /"authorizationParams" in "oauth" must be an object of strings/],
  [{ scopes: [1] }, /"scopes" in "oauth" must be an array of strings/],
])("%j is a mistake", (oauth, message) => {
  expect(read({ ...http, oauth }).problems).toEqual([expect.stringMatching(message)]);
});

test("variables are filled in at the moment of use", () => {
  const settings = { clientId: "${ID:-usual}", clientSecret: "$SECRET", scope: "$UNSET_X", assertionFile: "~/t" };
  const env = { SECRET: "s", HOME: "/home/me" };
  expect(expandOAuth(settings, ORIGINS.mcpjson, env)).toEqual({
    clientId: "usual",
    clientSecret: "s",
    scope: "$UNSET_X",
    assertionFile: "/home/me/t",
  });
  expect(expandOAuth(settings, ORIGINS.acp, env)).toEqual(settings);
});
