import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { getNodeValue } from "jsonc-parser";
import { maskUrl } from "./display.ts";
import { type Entry, isDisabled, readEntries } from "./entries.ts";
import { valueCommands } from "./expand.ts";
import type { FileMemory } from "./file-memory.ts";
import type { JsonDocument } from "./json-file.ts";
import { isOverride, type Layer, mergeLayers, onto } from "./layers.ts";
import { ORIGINS } from "./origins.ts";
import { type ProjectPath, projectPaths } from "./paths.ts";
import { saysPermission } from "./permission.ts";
import type { ConfigProblem, HttpTarget, Origin, ServerTarget, UntrustedFile, UntrustedServer } from "./record.ts";
import { readServer } from "./server.ts";
import { realPathOf, type TrustFile } from "./trust.ts";

/** A file of the project with entries in it, or with `permission`, and what a person has said to this content. */
export interface ProjectLayer extends ProjectPath {
  readonly realPath: string;
  readonly sha256: string;
  readonly state: "allowed" | "waiting" | "denied";
  readonly document: JsonDocument;
  readonly entries: Layer;
  readonly problems: readonly ConfigProblem[];
}

/** Of a file without a single entry there is little to say. */
const MAX_PROBLEMS = 3;

/** Nobody reads what more would run before they allow it, and a stranger's file must not delay the start of an agent. */
const MAX_SERVERS = 300;
const MAX_BYTES = 1024 * 1024;

/**
 * The project's files. They are parsed, which runs nothing; whether an entry may be used is for `state` to say, which is
 * asked for the very bytes that are parsed here. A file that is one of the person's own (`own`) is not the project's.
 * What is wrong in the entries is only reported once they are allowed: nobody else's text fills the screen.
 */
export function readProjectLayers(
  cwd: string,
  own: readonly string[],
  trust: () => TrustFile,
  problems: ConfigProblem[],
  memory: FileMemory,
): ProjectLayer[] {
  const known = new Set(own.map(realPathOf));
  const layers: ProjectLayer[] = [];
  for (const { file, origin } of projectPaths(cwd)) {
    const target = realPathOf(file);
    if (known.has(target)) continue;
    // Two of the project's own may be one file, too.
    known.add(target);
    // Not the target: a link in one project must not borrow what was allowed in another.
    const realPath = join(realPathOf(cwd), relative(cwd, file));
    const source = memory.read(file, problems, MAX_BYTES);
    if (source === undefined) continue;
    const { bytes, document } = source;
    const found: ConfigProblem[] = [];
    const entries = readEntries({ ...document, layer: "project" }, found, origin === "mcpjson");
    if (entries.size > MAX_SERVERS) {
      const message = `This file has more than ${MAX_SERVERS} servers, so none of them is used.`;
      problems.push({ file, line: 1, column: 1, severity: "error", message });
      continue;
    }
    if (entries.size === 0) problems.push(...found.slice(0, MAX_PROBLEMS));
    // What it says about permission counts without a word about servers.
    if (entries.size === 0 && !(origin === "mcpjson" && saysPermission(document))) continue;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const decision = trust().store.get(realPath)?.get(sha256);
    const state = decision === "allow" ? "allowed" : decision === "deny" ? "denied" : "waiting";
    layers.push({
      file,
      origin,
      realPath,
      sha256,
      state,
      document,
      entries,
      problems: entries.size === 0 ? [] : found,
    });
  }
  return layers;
}

/** The person's own entries, and all that are in use, by which an entry of the project is measured. */
export interface OwnLayers {
  readonly mcpjson: readonly Layer[];
  readonly settings: readonly Layer[];
}

/** What the files that are not allowed would do, each on top of the person's own. Files without any effect are left out. */
export function describeUntrusted(
  layers: readonly ProjectLayer[],
  own: OwnLayers,
  registered: Layer = new Map(),
): UntrustedFile[] {
  return layers
    .filter(({ state }) => state !== "allowed")
    .map((layer) => describeLayer(layer, layers, own, registered))
    .filter(({ servers }) => servers.length > 0);
}

function describeLayer(
  layer: ProjectLayer,
  layers: readonly ProjectLayer[],
  own: OwnLayers,
  registered: Layer,
): UntrustedFile {
  const { file, realPath, sha256, origin } = layer;
  const base = mergeLayers(own[origin]);
  const below = layers.slice(0, layers.indexOf(layer)).filter((each) => each.origin === origin);
  // The settings win over every mcp.json, and all files over extensions.
  const others = new Map([...registered, ...(origin === "settings" ? mergeLayers(own.mcpjson) : [])]);
  const problems: ConfigProblem[] = [...layer.problems];
  const servers: UntrustedServer[] = [];
  for (const [name, entry] of layer.entries) {
    const isOwn = base.has(name);
    const isTaken = isOwn || below.some(({ entries }) => entries.has(name));
    const result = onto(base.get(name), entry);
    if (isDisabled(result.fields) && !isTaken) continue;
    const server = readServer(result, origin, problems);
    const effect: UntrustedServer["effect"] = isDisabled(result.fields)
      ? "disables"
      : isOwn && isOverride(entry)
        ? "changes"
        : isTaken || others.has(name)
          ? "replaces"
          : "adds";
    const shown = server && (effect === "changes" ? hideOwn(server.target, base.get(name), origin) : server.target);
    servers.push({
      name,
      source: entry.source,
      effect,
      commands: shown ? valueCommands(shown, ORIGINS[origin].variableForms) : [],
      inheritEnv: server?.policy.inheritEnv ?? "all",
      ...(server?.tools && { tools: server.tools }),
      ...(isOverride(entry) && { sets: fieldsSet(entry, server?.target.kind) }),
      ...(shown && { target: shown }),
    });
  }
  return { file, realPath, sha256, state: layer.state === "denied" ? "denied" : "waiting", servers, problems };
}

/** Whether it is switched off is its effect, and some fields a target of that kind shows as they are. */
function fieldsSet({ fields = new Map() }: Entry, kind: ServerTarget["kind"] | undefined): Record<string, unknown> {
  const told =
    kind === undefined
      ? []
      : kind === "stdio"
        ? ["args", "env", "cwd"]
        : ["headers", "ca", "cert", "key", "headersCommand", "requestHeadersCommand"];
  const set = [...fields].filter(([field]) => !["name", "disabled", "enabled", ...told].includes(field));
  return Object.fromEntries(set.map(([field, { value }]) => [field, getNodeValue(value)]));
}

/** Of an entry that changes one of the person's own only that is shown which it brings: the rest may hold their secrets. */
function hideOwn(target: ServerTarget, ownEntry: Entry | undefined, origin: Origin): ServerTarget {
  const own = ownEntry && readServer(ownEntry, origin, [])?.target;
  if (own === undefined) return target;
  if (target.kind === "stdio") {
    const before = own.kind === "stdio" ? own : { args: [], env: {} };
    const args = isDeepStrictEqual(target.args, before.args) ? target.args.map(() => AS_YOURS) : target.args;
    return { ...target, args, env: hideEqual(target.env, before.env) };
  }
  const { bearerCommand, headersCommand, ...rest } = target;
  const before: Pick<HttpTarget, "headers" | "bearerCommand" | "headersCommand"> =
    own.kind === "stdio" ? { headers: {} } : own;
  const headers = hideEqual(target.headers, before.headers);
  return {
    ...rest,
    url: maskUrl(target.url),
    ...(headersCommand && !isDeepStrictEqual(headersCommand, before.headersCommand) && { headersCommand }),
    ...(bearerCommand === undefined
      ? { headers }
      : bearerCommand === before.bearerCommand
        ? { headers: { ...headers, Authorization: AS_YOURS } }
        : { headers, bearerCommand }),
  };
}

const AS_YOURS = "(as you have it)";

function hideEqual(values: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Object.hasOwn(own, name) && own[name] === value ? AS_YOURS : value,
    ]),
  );
}
