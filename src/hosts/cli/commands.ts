import { CLIENT_INFO } from "../../version.ts";
import { acp } from "./acp.ts";
import { add } from "./add.ts";
import { auth } from "./auth.ts";
import { call } from "./call.ts";
import type { Command } from "./command.ts";
import { config } from "./config.ts";
import { describe } from "./describe.ts";
import { doctor } from "./doctor.ts";
import { get } from "./get.ts";
import { importServers } from "./import.ts";
import { list } from "./list.ts";
import { permission } from "./permission.ts";
import { pins } from "./pins.ts";
import { prompt } from "./prompt.ts";
import { read } from "./read.ts";
import { remove } from "./remove.ts";
import { search } from "./search.ts";
import { disable, enable } from "./switch.ts";
import { trust } from "./trust.ts";
import { validate } from "./validate.ts";

/** All commands, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  list,
  search,
  describe,
  call,
  read,
  prompt,
  doctor,
  pins,
  add,
  importServers,
  remove,
  enable,
  disable,
  get,
  config,
  validate,
  trust,
  permission,
  auth,
  acp,
];

export const HELP = `pi-mcp ${CLIENT_INFO.version}: use MCP servers from the shell, and configure them

${usages()}

  --json             print JSON, also for errors
  --timeout SECONDS  limit of a request without progress; of doctor, for all it asks of one server (60)
  --version, --help

  of add: --header "Name: value", --env NAME=value (both any number of times), --cwd DIR, --type sse,
          --force (replace a server of that name)
  of import: --all (every program's servers), --from-project (also those of this project's files), --dry-run (write
          nothing), --force (replace servers of those names), --as NAME (for one server)
  of add, import, remove, enable, disable, get: --project, the project's .mcp.json (.pi/mcp.json if there is only that),
          or --file FILE, the mcp.json or settings.json to edit or show; without them the agent's mcp.json is edited
  of auth login: --no-browser (print the address), --no-wait (another command completes it)
  of acp: --permission MODE (what is asked about in the editor), --pi COMMAND (which pi), --no-shim (pi has pi-mcp installed)
  of read: --save FILE, to the letter; --json has all parts of a resource
  of list, search, describe, call, read, prompt, doctor, pins, auth, config, get: --mcp-config FILE or JSON (any number of
          times), servers beside the configured ones, which win over them; --strict-mcp-config, no servers but these

Servers are read from ~/.config/mcp/mcp.json (~/.config may be $XDG_CONFIG_HOME), and from mcp.json, settings.json and
settings.toml in ~/.pi/agent (or $PI_CODING_AGENT_DIR), and, once they are allowed, from .mcp.json, .pi/mcp.json and
.pi/settings.json in the current folder; and from the variable PI_ACP_MCP_SERVERS.

Exit codes: 0 done, 1 the tool reported an error, validate found one, or import could not take or read all, 2 wrong usage or
arguments, 3 no such server, 4 the server cannot be reached or ended, 5 it needs authorization, 6 time-out, 7 no such tool, 8
it refused the arguments, 9 denied, 10 anything else, 130 cancelled. doctor ends with 0 if every server that is
switched on works; else with the code of what keeps them from it, or with 10 if that is not the same for all.
`;

function usages(): string {
  const rows = COMMANDS.flatMap(({ help }) => help);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return rows.map(([usage, meaning]) => `  pi-mcp ${usage.padEnd(width)}  ${meaning}`).join("\n");
}
