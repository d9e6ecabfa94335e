import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** What the paths depend on; passed in, so that nothing here reads the real home of the person running a test. */
export interface UserEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** The home directory. */
  readonly home: string;
}

/** The person an environment is of; without a home in it, the one this process runs for. */
export function personOf(env: NodeJS.ProcessEnv): UserEnvironment {
  return { env, home: env.HOME || env.USERPROFILE || homedir() };
}

/** The files servers are read from. */
export interface ConfigPaths {
  /** The agent's own settings file; its `mcpServers` is one key among many. */
  readonly settings: string;
  /** Beside it, in TOML, as other agents have it. */
  readonly settingsToml: string;
  /** mcp.json files, from the lowest to the one that overrides the others. */
  readonly mcpJson: readonly string[];
}

/** A file of a project, and as what it is read. */
export interface ProjectPath {
  readonly file: string;
  readonly origin: "mcpjson" | "settings";
}

/** The files of the project in `cwd`, from low to high among those of one origin. Folders above are not looked at. */
export function projectPaths(cwd: string): readonly ProjectPath[] {
  return [
    { file: join(cwd, ".mcp.json"), origin: "mcpjson" },
    { file: join(cwd, ".pi", "mcp.json"), origin: "mcpjson" },
    { file: join(cwd, ".pi", "settings.json"), origin: "settings" },
  ];
}

/** Where it is kept what a person has allowed: outside of every project. */
export function trustPath(user: UserEnvironment): string {
  return join(agentDir(user), "mcp-trust.json");
}

/** Where it is kept what a person has allowed for good when a use of a server was asked about. */
export function permissionPath(user: UserEnvironment): string {
  return join(agentDir(user), "mcp-permissions.json");
}

/** Where the tools of servers are kept from one session to the next. */
export function catalogueDir(user: UserEnvironment): string {
  return join(agentDir(user), "mcp-catalog");
}

/** Where it is kept which tools of servers a person has accepted. */
export function pinsDir(user: UserEnvironment): string {
  return join(agentDir(user), "mcp-pins");
}

/** The agent's directory: `PI_CODING_AGENT_DIR`, in which a leading `~` is the home, else `~/.pi/agent`. */
export function agentDir({ env, home }: UserEnvironment): string {
  const configured = env.PI_CODING_AGENT_DIR?.trim();
  return configured ? resolve(expandHome(configured, home)) : join(rooted(home), ".pi", "agent");
}

/** Where the logs of servers lie: below `PI_HOME`, in which a leading `~` is the home, else below `~/.pi` [S2-54, S2-55]. */
export function serverLogDir({ env, home }: UserEnvironment): string {
  const configured = env.PI_HOME?.trim();
  const piHome = configured ? resolve(expandHome(configured, home)) : join(rooted(home), ".pi");
  return join(piHome, "logs", "mcp");
}

/** A home that is empty or relative would make files of whatever folder is current the person's own. */
export function rooted(home: string): string {
  return isAbsolute(home) ? home : userInfo().homedir;
}

/** `XDG_CONFIG_HOME` or `~/.config`. A relative `XDG_CONFIG_HOME` is ignored, as the XDG specification demands. */
export function userConfigDir({ env, home }: UserEnvironment): string {
  const configured = env.XDG_CONFIG_HOME?.trim();
  return configured && isAbsolute(configured) ? configured : join(rooted(home), ".config");
}

/** Should both variables point to one directory, its mcp.json is read once. */
export function configPaths(user: UserEnvironment): ConfigPaths {
  const agent = agentDir(user);
  const config = userConfigDir(user);
  return {
    settings: join(agent, "settings.json"),
    settingsToml: join(agent, "settings.toml"),
    mcpJson: [...new Set([join(config, "mcp", "mcp.json"), join(agent, "mcp.json")])],
  };
}

/** Replaces a leading `~`, alone or before a separator. `~name` means another person's home and is left alone. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return rooted(home);
  return /^~[/\\]/.test(path) ? join(rooted(home), path.slice(2)) : path;
}
