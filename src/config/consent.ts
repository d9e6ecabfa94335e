import { escaped } from "./escaped.ts";
import { listSome } from "./list-some.ts";
import type {
  HeadersCommand,
  ServerTarget,
  ToolFilter,
  UntrustedFile,
  UntrustedServer,
  ValueCommand,
} from "./record.ts";

/**
 * What a person is shown before they allow a project's file: every command and argument, whole and exact, since what is
 * left out or masked is where an attack would be. Each word that is not plain stands in quotes with escapes for what
 * cannot be seen, so one argument is seen to be one and nothing reaches the terminal that it would obey. One fact a line.
 */
export function describeUntrustedFile({ file, realPath, state, servers, problems }: UntrustedFile): string {
  const link = realPath === file ? "" : ` (which is ${exact(realPath)})`;
  const no = state === "denied" ? " You have denied it before." : "";
  return [
    `${exact(file)}${link} configures ${servers.length === 1 ? "a server" : `${servers.length} servers`}.${no}`,
    ...servers.flatMap(describeServer),
    ...problems.map(({ line, column, message }) => `  (line ${line}, column ${column}: ${escaped(message)})`),
    RISK,
  ].join("\n");
}

const RISK =
  "If you allow it, what it names runs as code on this computer with your rights, or is sent the values shown. What a command itself loads, such as a script in the project, may change later without a question.";

function describeServer(server: UntrustedServer): string[] {
  const head = `  ${exact(server.name)}${EFFECTS[server.effect]}`;
  const sets = Object.entries(server.sets ?? {}).map(
    ([field, value]) => `sets ${exact(field)} to ${escaped(JSON.stringify(value))}`,
  );
  if (server.target === undefined) {
    const isOff = server.effect === "disables";
    return [isOff ? head : `${head}: cannot be used as it is`, ...sets.map((line) => `    ${line}`)];
  }
  const lines = [...describeTarget(server.target, server), ...describeFilter(server.tools), ...sets];
  return [head, ...lines.map((line) => `    ${line}`)];
}

const EFFECTS: Readonly<Record<UntrustedServer["effect"], string>> = {
  adds: "",
  replaces: " (takes the place of a server of this name)",
  changes: " (changes a server of this name; this is how it would be)",
  disables: " (switches off a server of this name)",
};

/** An entry may change which tools of a server of the person's own there are. */
function describeFilter(tools: ToolFilter | undefined): string[] {
  const list = (names: readonly string[]) => (names.length === 0 ? "none" : names.map(exact).join(" "));
  return [
    ...(tools?.include === undefined ? [] : [`has of its tools only: ${list(tools.include)}`]),
    ...(tools === undefined || tools.exclude.length === 0 ? [] : [`has none of the tools: ${list(tools.exclude)}`]),
  ];
}

/** Before each start of the server. It is a command of the person's computer, not of the server's process. */
function describeCommand({ field, name, command }: ValueCommand): string {
  return `runs ${exact(command)} with all variables of your environment, for the value of the ${field === "env" ? "variable" : "header"} ${exact(name)}`;
}

function describeHeadersCommand(command: HeadersCommand | undefined): string[] {
  if (command === undefined) return [];
  const when = command.per === "request" ? "each request, which it is shown" : "the connection";
  const words = [command.command, ...(command.args ?? [])].map(exact).join(" ");
  const variables = Object.entries(command.env ?? {}).map(([name, value]) => `with ${pair(name, value, "=")} for it`);
  return [`runs ${words} with all variables of your environment, for the headers of ${when}`, ...variables];
}

/** Where variables are filled in; a command line has its own in its environment, all of them. */
function wordsOf(command: HeadersCommand | undefined): string[] {
  if (!command?.args) return [];
  return [command.command, ...command.args, ...Object.values(command.env ?? {})];
}

/** What a server does when it is started, whole and exact, one fact a line. */
export function describeTarget(
  target: ServerTarget,
  { inheritEnv, commands }: Pick<UntrustedServer, "inheritEnv" | "commands">,
): string[] {
  /** A command is shown as one. */
  const isCommand = (each: string) => commands.some(({ name }) => name === each);
  if (target.kind !== "stdio") {
    const files = (["ca", "cert", "key"] as const).flatMap((field) =>
      target[field] === undefined ? [] : [`reads the file ${exact(target[field])}`],
    );
    const texts = [target.bearerCommand, ...Object.values(target.headers)];
    const values = [target.url, target.ca, target.cert, target.key, ...texts];
    return [
      `connects to ${exact(target.url)}`,
      ...Object.entries(target.headers)
        .filter(([name]) => !isCommand(name))
        .map(([name, value]) => `with the header ${pair(name, value, ": ")}`),
      ...files,
      ...variablesIn([...values, ...wordsOf(target.headersCommand)]),
      ...describeHeadersCommand(target.headersCommand),
      ...commands.map(describeCommand),
    ];
  }
  const { command, args, env, cwd } = target;
  return [
    `runs ${[command, ...args].map(exact).join(" ")}`,
    ...(cwd === undefined ? [] : [`in ${exact(cwd)}`]),
    ...Object.entries(env)
      .filter(([name]) => !isCommand(name))
      .map(([name, value]) => `with the variable ${pair(name, value, "=")}`),
    ...variablesIn([command, ...args, cwd, ...Object.values(env)]),
    inheritEnv === "all" ? "gets all variables of your environment" : "gets the basic variables of your environment",
    ...commands.map(describeCommand),
  ];
}

/** Every way to write a variable that any dialect has: one name too many in a warning is better than one too few. */
const VARIABLE = /(?:\$\{(?:env:)?|\$env:|\{env:|\$)([A-Za-z_]\w*)/g;

/** The values of the person's own that would be handed over. */
function variablesIn(texts: readonly (string | undefined)[]): string[] {
  const names = new Set(texts.flatMap((text = "") => [...text.matchAll(VARIABLE)].map(({ 1: name = "" }) => name)));
  return names.size === 0 ? [] : [`reads from your environment: ${[...names].join(", ")}`];
}

/** Whatever its name: many a variable that sounds like a secret names a program to run or a file to read. */
function pair(name: string, value: string, between: string): string {
  return `${exact(name)}${between}${exact(value)}`;
}

/** Plain words as they are, everything else in quotes as JSON has it. */
function exact(word: string): string {
  return /^[\w@%+:,./~=${}-]+$/.test(word) ? word : escaped(JSON.stringify(word));
}

/** The files and servers that wait for a decision in one sentence; names are a stranger's text, so they are few and short. */
export function waitingNotice(untrusted: readonly UntrustedFile[] | undefined, how: string): string | undefined {
  const waiting = (untrusted ?? []).filter(({ state }) => state === "waiting");
  const names = [...new Set(waiting.flatMap(({ servers }) => servers.map(({ name }) => name)))];
  if (names.length === 0) return undefined;
  const shown = listSome(names.map(shortName), SHOWN_NAMES);
  return `MCP servers of this project are not allowed yet and do not run: ${shown}. ${how} shows what they would run and asks.`;
}

const SHOWN_NAMES = 10;

function shortName(name: string): string {
  const characters = [...escaped(name)];
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : characters.join("");
}

/** The untrusted entries of a name, to say why it is not there. */
export function findUntrusted(
  untrusted: readonly UntrustedFile[] | undefined,
  name: string,
): { file: UntrustedFile; server: UntrustedServer } | undefined {
  for (const file of untrusted ?? []) {
    const server = file.servers.find((each) => each.name === name);
    if (server !== undefined) return { file, server };
  }
  return undefined;
}
