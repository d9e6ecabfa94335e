import { maySignIn } from "../../config/may-sign-in.ts";
import { formatProblem, visible } from "../../config/problems.ts";
import { describeError } from "../../error.ts";
import type { McpSession } from "../../session/session.ts";
import type { PiCommand, PiCompletion, PiContext } from "./api.ts";
import type { PiHost } from "./host.ts";
import { tell } from "./notice.ts";

/** What `/mcp` takes a server's name for, and of which servers. */
const VERBS = {
  reconnect: "used",
  enable: "disabled",
  disable: "used",
  login: "sign-in",
  logout: "sign-in",
  tools: "used",
  logs: "used",
  doctor: "used",
} as const;

type Verb = keyof typeof VERBS;

const ALONE = ["trust", "import", "add"];

const USAGE = `Usage: /mcp, /mcp ${Object.keys(VERBS).join("|")} <server>, /mcp ${ALONE.join("|")}`;

/**
 * `/mcp` shows the servers: in a terminal a panel, elsewhere a text [S2-28…30]. With a verb it does one thing and says what
 * came of it; `/mcp reconnect <name>` connects a server anew, as often as asked [S2-31, S2-32].
 */
export function mcpCommand(host: PiHost): PiCommand {
  return {
    description: "Show the MCP servers, or do something with one (/mcp reconnect <server>)",
    getArgumentCompletions: (prefix) => completions(host, prefix),
    handler: async (args, ctx) => {
      try {
        const said = await run(host, args.trim(), ctx);
        if (said !== undefined) tell({ hasUI: ctx.hasUI, ctx }, said, "info");
      } catch (error) {
        tell({ hasUI: ctx.hasUI, ctx }, describeError(error), "error");
      }
    },
  };
}

/** First the verbs, then the servers that a verb is of use for, as they are at that moment. */
function completions(host: PiHost, prefix: string): PiCompletion[] | null {
  const [, verb = ""] = /^(\S+)\s/.exec(prefix) ?? [];
  const choices =
    verb === ""
      ? [...Object.keys(VERBS), ...ALONE]
      : isVerb(verb)
        ? namesFor(host, VERBS[verb]).map((name) => `${verb} ${name}`)
        : [];
  const fitting = choices.filter((choice) => choice.startsWith(prefix.replace(/\s+/, " ")));
  return fitting.length === 0 ? null : fitting.map((value) => ({ value, label: visible(value) }));
}

function namesFor({ config }: PiHost, which: (typeof VERBS)[Verb]): string[] {
  const { servers = [], unused = [] } = config ?? {};
  if (which === "disabled") return unused.filter(({ reason }) => reason === which).map(({ name }) => name);
  return servers.filter((server) => which === "used" || maySignIn(server)).map(({ name }) => name);
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERBS, word);
}

/** What is to be said; nothing where it was shown already. */
async function run(host: PiHost, args: string, ctx: PiContext): Promise<string | undefined> {
  const [word = "", ...rest] = args.split(/\s+/);
  const server = args.slice(word.length).trim();
  if (word !== "" && !(isVerb(word) ? server !== "" : ALONE.includes(word) && rest.length === 0)) return USAGE;
  if (ALONE.includes(word)) {
    // These need no server, and no session.
    const { addServers, allowProjectFiles, importServers } = await import("./engine.ts");
    const tasks = { trust: allowProjectFiles, import: importServers, add: addServers };
    return tasks[word as keyof typeof tasks](host, ctx);
  }
  host.refresh();
  const [engine, session] = await host.engine();
  if (isVerb(word)) return act(word, server, engine, host, session, ctx);
  return (await engine.openPanel(host, session, ctx)) ? undefined : report(host, engine, session);
}

async function report(host: PiHost, engine: Engine, session: McpSession): Promise<string> {
  const isEmpty = session.servers.length + session.unused.length + session.untrusted.length === 0;
  const servers = isEmpty ? engine.welcome(host.cwd, "commands") : await engine.reportServers(session);
  return [servers, ...session.problems.map(formatProblem)].join("\n");
}

type Engine = Awaited<ReturnType<PiHost["engine"]>>[0];

function act(
  verb: Verb,
  server: string,
  engine: Engine,
  host: PiHost,
  session: McpSession,
  ctx: PiContext,
): Promise<string> | string {
  const actions = engine.serverActions(host, session);
  switch (verb) {
    case "reconnect":
      return actions.reconnect(server);
    case "enable":
    case "disable":
      return actions.switchTo(server, verb === "enable");
    case "login":
      return engine.signInWith(session, server, ctx);
    case "logout":
      return actions.logout(server);
    case "tools":
      return actions.tools(server);
    case "logs":
      return actions.log(server);
    case "doctor":
      return actions.check(server);
  }
}
