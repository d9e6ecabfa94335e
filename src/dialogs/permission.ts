import type { PermissionAnswer, PermissionRequest } from "../permission/port.ts";
import type { ToolAnnotations } from "../protocol/types.ts";
import { type Asker, showPages } from "./asker.ts";
import { nameOf, pagesOf, valueLine, words } from "./text.ts";

const SHOWN_ARGUMENTS = 10;
const ARGUMENT_CHARS = 200;

const DENY = "Deny";
const SHOW_ALL = "Show all arguments";

/** Asks whether something of a server may be used. Dismissed is denied; the first option is the harmless one. */
export async function askPermission(
  asker: Asker,
  request: PermissionRequest,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const { kind, args } = request;
  const [name, server] = [nameOf(request.name), nameOf(request.server)];
  const shown = shownArguments(args ?? {});
  const answers = new Map<string, PermissionAnswer>([
    [DENY, "deny"],
    ["Allow once", "once"],
    [`Allow ${kind} ${name} for this session`, "thing"],
    [`Allow all of server ${server} for this session`, "server"],
    [`Always allow ${kind} ${name}`, "always"],
  ]);
  const options = [...answers.keys(), ...(shown.isWhole ? [] : [SHOW_ALL])];
  const text = [
    `Use ${kind} \`${name}\` of MCP server \`${server}\`?`,
    ...shown.lines,
    "",
    ...saysOfItself(request.annotations),
    `You are asked because of ${words(request.why, 2, 300)}.`,
  ].join("\n");
  for (;;) {
    const answer = await asker.select(text, options, signal);
    if (answer !== SHOW_ALL || shown.isWhole) return answers.get(answer ?? DENY) ?? "deny";
    await showPages(asker, pagesOf(JSON.stringify(args, null, 2)), signal);
  }
}

function shownArguments(args: object): { lines: string[]; isWhole: boolean } {
  const all = Object.entries(args);
  const rows = all.slice(0, SHOWN_ARGUMENTS).map(([key, value]) => {
    const { text, isWhole } = valueLine(value, ARGUMENT_CHARS);
    const name = nameOf(key);
    return { line: `  ${name}: ${text}`, isWhole: isWhole && name === key };
  });
  const more = all.length - rows.length;
  return {
    lines: [...rows.map(({ line }) => line), ...(more > 0 ? [`  … and ${more} more`] : [])],
    isWhole: more === 0 && rows.every(({ isWhole }) => isWhole),
  };
}

function saysOfItself({ readOnlyHint, destructiveHint }: ToolAnnotations): string[] {
  if (readOnlyHint === true) return ["It says that it only reads."];
  if (destructiveHint === true) return ["It says that it may change or remove things."];
  return [];
}
