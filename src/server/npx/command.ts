import { dirname, isAbsolute } from "node:path";
import { programName } from "../../config/package-runner.ts";
import type { StdioTarget } from "../../config/record.ts";

/** What an `npx …` or `npm exec …` asks for. */
export interface NpxCommand {
  /** The package. */
  readonly name: string;
  /** The package as written, `name@latest` say: npm names the folder it installs it in after this. */
  readonly spec: string;
  /** Nothing behind the name is the tag `latest`. */
  readonly wanted: { readonly version: string } | { readonly tag: string };
  /** The program, where it is not left to the package which one to run. */
  readonly bin: string | undefined;
  /** The server's own. */
  readonly args: readonly string[];
  /** The words of the command up to the package or program, so without anything that is secret, as a JSON array. */
  readonly key: string;
  /** Where the command says its npm lies; the one on the path is meant when absent. */
  readonly folder: string | undefined;
}

/** They change nothing about what is run. */
const HARMLESS = new Set(["-y", "--yes", "-q", "--quiet", "-s", "--silent"]);

/** What a Windows shell would make something else of. */
const SHELL_SIGNS = /[%^&|<>"!]/;

const NAME = /^(?:@[a-z0-9~-][a-z0-9~._-]*\/)?[a-z0-9~-][a-z0-9~._-]*$/i;
const VERSION = /^[v=]?(\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?)$/i;
const TAG = /^[a-z][a-z0-9._-]*$/i;
/** Ranges that could pass for tags: `x`, `x.x`, `v1`. */
const RANGE = /^(?:x(?:\.|$)|v\d)/i;

/**
 * Reads a command line of npx or `npm exec`. Undefined for every other one and for those with a word in them that might
 * change what is run: another option, several packages, a range of versions, a folder, an address.
 */
export function parseNpx({ command, args }: Pick<StdioTarget, "command" | "args">): NpxCommand | undefined {
  const program = programName(command);
  if (program === "cmd" && /^\/c$/i.test(args[0] ?? "")) {
    const [inner = "", ...rest] = args.slice(1);
    return args.some((arg) => SHELL_SIGNS.test(arg)) || inner === ""
      ? undefined
      : parseNpx({ command: inner, args: rest });
  }
  const hasFolder = /[/\\]/.test(command);
  if (hasFolder && !isAbsolute(command)) return undefined;
  const words = program === "npx" ? npxWords(args) : program === "npm" ? npmWords(args) : undefined;
  const first = words?.rest[0];
  if (words === undefined || first === undefined) return undefined;
  const spec = words.spec ?? first;
  const bin = words.spec === undefined ? undefined : first;
  const wanted = readSpec(spec);
  if (wanted === undefined || (bin !== undefined && !NAME.test(bin))) return undefined;
  return {
    ...wanted,
    spec,
    bin,
    args: words.rest.slice(1),
    key: JSON.stringify([program, ...words.read, first]),
    folder: hasFolder ? dirname(command) : undefined,
  };
}

interface Words {
  /** Options, in order. */
  readonly read: readonly string[];
  /** The package, where an option names it. */
  readonly spec: string | undefined;
  /** The package or the program, and what belongs to that. */
  readonly rest: readonly string[];
}

/** npx takes nothing for its own behind the package or program, not even a `--`. */
function npxWords(args: readonly string[]): Words | undefined {
  const read: string[] = [];
  let spec: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") return { read: [...read, arg], spec, rest: args.slice(at + 1) };
    if (!arg.startsWith("-")) return { read, spec, rest: args.slice(at) };
    read.push(arg);
    if (HARMLESS.has(arg)) continue;
    const named = packageOption(arg, ["-p", "--package"]);
    if (named === undefined || spec !== undefined) return undefined;
    if (named === "") read.push(args[++at] ?? "");
    spec = named || (args[at] ?? "");
  }
  return undefined;
}

/** npm takes options everywhere before `--`, which itself is not handed on. */
function npmWords(args: readonly string[]): Words | undefined {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const read: string[] = [];
  const words: string[] = [];
  let spec: string | undefined;
  for (let at = 0; at < own.length; at++) {
    const arg = own[at] ?? "";
    if (!arg.startsWith("-")) {
      words.push(arg);
      continue;
    }
    read.push(arg);
    if (HARMLESS.has(arg)) continue;
    const named = packageOption(arg, ["--package"]);
    if (named === undefined || spec !== undefined) return undefined;
    if (named === "") read.push(own[++at] ?? "");
    spec = named || (own[at] ?? "");
  }
  const [command, ...rest] = words;
  if (command !== "exec" && command !== "x") return undefined;
  return { read: [command, ...read], spec, rest: [...rest, ...(end === -1 ? [] : args.slice(end + 1))] };
}

/** What an option says which package is meant; empty when the next word does; undefined when it is another option. */
function packageOption(arg: string, names: readonly string[]): string | undefined {
  if (names.includes(arg)) return "";
  const name = names.find((each) => arg.startsWith(`${each}=`));
  return name && (arg.slice(name.length + 1) || undefined);
}

function readSpec(spec: string): Pick<NpxCommand, "name" | "wanted"> | undefined {
  const at = spec.indexOf("@", 1);
  const name = at === -1 ? spec : spec.slice(0, at);
  const after = at === -1 ? "latest" : spec.slice(at + 1);
  if (!NAME.test(name)) return undefined;
  const version = VERSION.exec(after)?.[1];
  if (version !== undefined) return { name, wanted: { version } };
  return TAG.test(after) && !RANGE.test(after) ? { name, wanted: { tag: after } } : undefined;
}
