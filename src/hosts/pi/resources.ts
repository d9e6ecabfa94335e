import { sanitizeLine } from "../../content/sanitize.ts";
import type { Resource } from "../../protocol/types.ts";
import type { PiAutocomplete, PiCompletion } from "./api.ts";

/** A list that is longer is not looked through. */
const MAX_SHOWN = 20;
const LABEL_CHARS = 60;
const URI_CHARS = 500;

/** What there is to refer to. */
export interface ResourcePlace {
  /** Names of the servers that are known to have resources. */
  servers(): readonly string[];
  /** Those of one server; none where they cannot be had soon. */
  resources(server: string, signal: AbortSignal): Promise<readonly Resource[]>;
}

/**
 * `@server:uri` in pi's editor, beside the files that `@` stands for: first the names of servers, then the addresses of one. What
 * is sent is that text; the tool that reads resources says what it means.
 */
export function resourceCompletion(current: PiAutocomplete, place: ResourcePlace): PiAutocomplete {
  const ours = new Set<string>();

  async function itemsFor(word: string, signal: AbortSignal): Promise<PiCompletion[]> {
    // A name with a space in it ends the word.
    const servers = place.servers().filter((name) => /^\S+$/.test(name) && sanitizeLine(name, LABEL_CHARS) === name);
    const server = servers.find((name) => word.startsWith(`${name}:`));
    if (server === undefined) {
      const fitting = servers.filter((name) => name.toLowerCase().startsWith(word.toLowerCase()));
      return fitting.map((name) => ({
        value: `@${name}:`,
        label: `${name}:`,
        description: "resources of an MCP server",
      }));
    }
    const wanted = word.slice(server.length + 1).toLowerCase();
    const found = (await place.resources(server, signal)).filter(
      ({ uri, name, title = "" }) =>
        /^\S+$/.test(uri) &&
        sanitizeLine(uri, URI_CHARS) === uri &&
        [uri, name, title].some((text) => text.toLowerCase().includes(wanted)),
    );
    return found.map(({ uri, name, title }) => ({
      value: `@${server}:${uri}`,
      label: sanitizeLine(title ?? name, LABEL_CHARS),
      description: uri,
    }));
  }

  return {
    ...(current.triggerCharacters && { triggerCharacters: current.triggerCharacters }),
    async getSuggestions(lines, line, column, options) {
      const word = /(?:^|[\s(])@([^\s@"']*)$/.exec((lines[line] ?? "").slice(0, column))?.[1];
      const items = word === undefined ? [] : await itemsFor(word, options.signal).catch(() => []);
      const others = await current.getSuggestions(lines, line, column, options);
      if (items.length === 0) return others;
      const prefix = `@${word}`;
      for (const { value } of items) ours.add(value);
      return { items: [...items.slice(0, MAX_SHOWN), ...(others?.prefix === prefix ? others.items : [])], prefix };
    },
    applyCompletion(lines, line, column, item, prefix) {
      if (!ours.has(item.value)) return current.applyCompletion(lines, line, column, item, prefix);
      const text = lines[line] ?? "";
      // After the name of a server the address follows.
      const added = item.value.endsWith(":") ? item.value : `${item.value} `;
      const start = column - prefix.length;
      const changed = `${text.slice(0, start)}${added}${text.slice(column)}`;
      return { lines: lines.with(line, changed), cursorLine: line, cursorCol: start + added.length };
    },
    ...(current.shouldTriggerFileCompletion && {
      shouldTriggerFileCompletion: (lines, line, column) =>
        current.shouldTriggerFileCompletion?.(lines, line, column) ?? true,
    }),
  };
}
