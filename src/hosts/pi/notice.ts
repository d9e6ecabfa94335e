import { waitingNotice } from "../../config/consent.ts";
import { firstTurnWaitMs } from "../../config/environment-limits.ts";
import type { HostAbilities } from "../../config/gateways.ts";
import { formatProblem, visible } from "../../config/problems.ts";
import type { ConfigProblem, LoadedConfig } from "../../config/record.ts";
import { sanitizeText } from "../../content/sanitize.ts";
import { permissionChange } from "../../permission/describe.ts";
import { hasModel, type PiContext } from "./api.ts";

const MCP_IS_TAKEN =
  "Another extension has a tool called `mcp`, such as pi-mcp-adapter has; it stays that extension's. pi-mcp serves the servers it has read by `mcp_load` and `mcp_call`. Both start the servers of an mcp.json: keep one of the two (`pi list`, `pi remove`).";

/** Without a UI notices would vanish: there they go to stderr. */
export function tell(
  { hasUI, ctx }: { readonly hasUI: boolean; readonly ctx: PiContext },
  text: string,
  type: "info" | "warning" | "error",
): void {
  const clean = sanitizeText(text);
  if (hasUI) ctx.ui.notify(clean, type);
  else console.error(clean);
}

/** What a person is told of a configuration when a session begins. */
export function startNotices(
  { problems, untrusted, servers }: LoadedConfig,
  { hasUI, ctx, isMcpTaken }: { readonly hasUI: boolean; readonly ctx: PiContext } & HostAbilities,
): string[] {
  const all = [...problems];
  firstTurnWaitMs(process.env, all);
  const waiting = waitingNotice(untrusted, howToAllow(hasUI));
  const asking = hasModel(ctx) ? [] : servers.filter(({ policy }) => policy.offersSampling);
  const names = asking.map(({ name }) => visible(name)).join(", ");
  return [
    ...(all.length > 0 ? [["MCP configuration:", ...all.map(formatProblem)].join("\n")] : []),
    ...(waiting === undefined ? [] : [waiting]),
    ...(isMcpTaken ? [MCP_IS_TAKEN] : []),
    ...(hasUI && asking.length > 0
      ? [`"sampling" is not offered to MCP servers here, as this pi has no way to ask its model: ${names}.`]
      : []),
  ];
}

/** And when it has changed: `said` is what has changed of the servers, if that is to be told. Blank for nothing. */
export function changeNotice(
  said: string | undefined,
  former: LoadedConfig,
  next: LoadedConfig,
  hasUI: boolean,
): { text: string; type: "info" | "warning" } {
  const problems = newProblems(former.problems, next.problems);
  const head = said ?? (problems.length > 0 ? "MCP configuration:" : undefined);
  const waiting = waitingNotice(next.untrusted, howToAllow(hasUI));
  const isNew = waiting !== waitingNotice(former.untrusted, howToAllow(hasUI));
  const permission = permissionChange(former.permission, next.permission);
  const lines = [head, permission, ...problems.map(formatProblem), isNew ? waiting : undefined];
  const text = lines.filter((line) => line !== undefined).join("\n");
  return { text, type: problems.length > 0 || isNew ? "warning" : "info" };
}

/** Those that were not there before; one whose line has moved is no new one. */
function newProblems(former: readonly ConfigProblem[], now: readonly ConfigProblem[]): ConfigProblem[] {
  const keyOf = ({ file, message }: ConfigProblem) => JSON.stringify([file, message]);
  const known = new Set(former.map(keyOf));
  return now.filter((problem) => !known.has(keyOf(problem)));
}

function howToAllow(hasUI: boolean): string {
  return hasUI ? "`/mcp trust`" : "`pi-mcp trust`, run in this folder,";
}
