/** Everything that must not be seen of a sign-in, from its begin to its end. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { afterwards, answerOf, type Place, place } from "../../auth/open.ts";
import { changeTokens, credentials, credentialsFile } from "../../auth/stored.ts";
import { EXTENSION, HOSTS, runPi } from "../../ground/run-pi.ts";
import { scriptedModel } from "../../ground/scripted-model.ts";
import { cliOnTerminal, hasTerminals } from "../../ground/terminal.ts";
import { until } from "../../ground/wait.ts";

const CLI = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));
const LOOK_EVERY_MS = 10;
const ROBOT = "planted-secret-of-a-robot";

/** All that was written and started since, and what of it holds a secret. */
class Watch {
  readonly #here: Place;
  readonly texts: string[] = [];
  readonly commands = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(here: Place) {
    this.#here = here;
    this.#timer = setInterval(() => {
      for (const { command } of here.home.survivors()) this.commands.add(command);
    }, LOOK_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get secrets(): string[] {
    return [...this.#here.authorization.secrets, ROBOT].filter((secret) => secret !== "");
  }

  /** Runs the command line; what it wrote is kept. */
  async cli(args: readonly string[], input = ""): Promise<{ code: number | null; text: string }> {
    const { home } = this.#here;
    const child = spawn(process.execPath, [CLI, ...args], { cwd: home.cwd, env: home.env() });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
    }
    child.stdin.on("error", () => {}).end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    this.texts.push(text);
    return { code, text };
  }

  /** Where a secret stands that should not: outputs, command lines, files that others can read or that are not for it. */
  leaks(): string[] {
    const { secrets } = this;
    const holds = (text: string) => secrets.find((secret) => text.includes(secret));
    const places = [
      ...this.texts.map((text) => ["output", text] as const),
      ...[...this.commands].map((text) => ["command line", text] as const),
    ];
    const shown = places.flatMap(([where, text]) => (holds(text) ? [`${where}: ${text}`] : []));
    const stored = filesBelow(this.#here.home.root).flatMap((file) => {
      const secret = holds(readFileSync(file, "latin1"));
      if (secret === undefined) return [];
      const modes = [statSync(file), statSync(dirname(file))].map(({ mode }) => (mode & 0o777).toString(8));
      const isOurs = /\/mcp-oauth\/sha256-[0-9a-f]{64}\/(tokens|pending)\.json$/.test(file);
      return isOurs && String(modes) === "600,700" ? [] : [`${file} (${modes}): ${secret}`];
    });
    return [...shown, ...stored];
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Whoever answers repeats all it was told. */
const parrot = (form: URLSearchParams) => ({
  status: 400,
  body: { error: "invalid_grant", error_description: `I was told ${[...form.values()].join(" and ")}` },
});

test.runIf(hasTerminals)(
  "no code, token, secret or verifier is seen anywhere, whatever a sign-in goes through",
  async () => {
    const here = await place({
      authorization: { metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] } },
      env: { ROBOT_SECRET: ROBOT },
    });
    const { authorization, server, home } = here;
    const oauth = { grantType: "client_credentials", clientId: "robot", clientSecret: "$ROBOT_SECRET" };
    home.write({ mcp: { mcpServers: { s: { url: server.url, debug: true }, robot: { url: server.url, oauth } } } });
    authorization.clients.set("robot", { id: "robot", secret: ROBOT, method: "client_secret_post", redirectUris: [] });
    const watch = new Watch(here);
    afterwards(watch, async () => watch.stop());
    const whoAmI = ["call", "s", "echo", '{"text":"who am I"}'];

    // A sign-in at a terminal, by a browser that is a program of the person's.
    const opener = home.path("opener");
    writeFileSync(
      opener,
      `#!/bin/sh\nprintf '%s ' "$@" > '${opener}.part'\nmv '${opener}.part' '${opener}.heard'\nsleep 0.2\n`,
    );
    chmodSync(opener, 0o755);
    const terminal = cliOnTerminal(home, ["auth", "login", "s"], { BROWSER: opener });
    const address = await until("the browser", () =>
      existsSync(`${opener}.heard`) ? readFileSync(`${opener}.heard`, "utf8").trim() : undefined,
    );
    watch.texts.push(await (await fetch(address)).text());
    expect(await terminal.ended).toBe(0);
    watch.texts.push(terminal.shown());
    expect([...watch.commands].some((command) => command.includes("code_challenge="))).toBe(true);

    // Calls, refreshes, and a server that tells its token.
    expect((await watch.cli(whoAmI)).text).toContain("echo Bearer [REDACTED]");
    changeTokens(home, { expiresAt: 1 });
    expect((await watch.cli([...whoAmI, "--json"])).code).toBe(0);
    for (const args of [
      ["list", "s"],
      ["auth", "status", "--json"],
      ["doctor", "s"],
      ["config", "s"],
      ["get", "s"],
    ]) {
      await watch.cli(args);
    }

    // pi, whose model hears of it.
    changeTokens(home, { expiresAt: 1 });
    await using model = await scriptedModel([
      { call: { tool: "mcp_call", args: { server: "s", tool: "echo", args: { text: "who am I" } } } },
      { call: { tool: "mcp_auth", args: { action: "start", server: "s" } } },
      { call: { tool: "mcp_auth", args: { action: "status", server: "s" } } },
      { say: () => "done" },
    ]);
    home.write({ model });
    const run = await runPi(HOSTS[0], home, { mode: "json", prompt: "who am I", extension: EXTENSION });
    expect(run.stdout).toContain("echo Bearer [REDACTED]");
    watch.texts.push(run.stdout, run.stderr, JSON.stringify(model.requests));

    // More scopes are wanted; the sign-in for them is completed by another process, after a wrong try.
    server.options.callScope = "more";
    expect(await watch.cli(whoAmI)).toMatchObject({ code: 5, text: expect.stringContaining('(scope "more")') });
    const started = await watch.cli(["auth", "login", "s", "--no-wait"]);
    const answer = await answerOf(/^http\S+$/m.exec(started.text)?.[0] ?? "");
    expect(watch.leaks()).toEqual([]);
    const wrong = await watch.cli(["auth", "complete", "s"], `${answer.replace(/state=[^&]+/, "state=x")}\n`);
    expect([wrong.code, wrong.text]).toEqual([5, expect.stringContaining("OAuth state mismatch")]);
    expect((await watch.cli(["auth", "complete", "s"], `${answer}\n`)).code).toBe(0);
    expect((await watch.cli(whoAmI)).code).toBe(0);

    // Refreshes that fail, for now and for good, with answers that repeat what was sent.
    changeTokens(home, { expiresAt: 1 });
    server.revoked.add(credentials(home).tokens?.accessToken ?? "");
    authorization.options.onToken = (form) => ({ ...parrot(form), status: 503 });
    expect((await watch.cli(whoAmI)).text).toContain("sign-in could not be renewed");
    authorization.options.onToken = parrot;
    expect(await watch.cli(whoAmI)).toMatchObject({ code: 5, text: expect.stringContaining("I was told") });

    // A sign-in whose code is refused, with the verifier in the answer.
    const refused = await watch.cli(["auth", "login", "s", "--no-wait"]);
    authorization.options.onToken = (form) => {
      for (const name of ["code", "code_verifier"]) authorization.secrets.add(form.get(name) ?? "");
      return parrot(form);
    };
    const other = await answerOf(/^http\S+$/m.exec(refused.text)?.[0] ?? "");
    expect(await watch.cli(["auth", "complete", "s"], other)).toMatchObject({
      code: 5,
      text: expect.stringContaining("invalid_grant: I was told"),
    });

    // A program's own grant, refused and granted; and the end of it all.
    expect((await watch.cli(["call", "robot", "echo", '{"text":"who am I"}'])).text).toContain("invalid_grant");
    delete authorization.options.onToken;
    delete server.options.callScope;
    expect((await watch.cli(["call", "robot", "echo", '{"text":"who am I"}'])).text).toContain(
      "echo Bearer [REDACTED]",
    );
    expect(readFileSync(credentialsFile(home, "robot"), "utf8")).not.toContain(ROBOT);
    const last = await watch.cli(["auth", "login", "s", "--no-wait"]);
    await watch.cli(["auth", "complete", "s"], await answerOf(/^http\S+$/m.exec(last.text)?.[0] ?? ""));
    expect((await watch.cli(["auth", "logout", "s"])).code).toBe(0);
    expect((await watch.cli(["auth", "logout", "robot"])).code).toBe(0);

    for (const kind of ["code", "access-token", "refresh-token", "client-secret"]) {
      expect(watch.secrets.filter((secret) => secret.startsWith(`planted-${kind}-`)).length).toBeGreaterThan(0);
    }
    // Verifiers, which are not ours to name.
    expect(watch.secrets.filter((secret) => /^[\w-]{43}$/.test(secret)).length).toBeGreaterThan(0);
    expect(watch.leaks()).toEqual([]);
    expect(
      watch.secrets.filter((secret) =>
        filesBelow(home.root).some((file) => readFileSync(file, "latin1").includes(secret)),
      ),
    ).toEqual([]);
  },
  120_000,
);
