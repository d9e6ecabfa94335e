import { displayTarget } from "../../config/display.ts";
import type { LoadedConfig } from "../../config/record.ts";
import { describeUnused } from "../../config/unused.ts";
import { sanitizeLine } from "../../content/sanitize.ts";

/** The entries that wait for a person or were denied, as JSON has them; `target` as that of a server in use. */
export function untrustedRows({ untrusted = [] }: Pick<LoadedConfig, "untrusted">) {
  return untrusted.flatMap(({ state, servers }) =>
    servers.map(({ name, target, source: { file, line } }) => ({
      name,
      ...(target && { transport: target.kind, target: `${target.kind}: ${displayTarget(target)}` }),
      source: `${file}:${line}`,
      untrusted: state,
    })),
  );
}

/** One line each: the name, and why it does not run. */
export function untrustedLines(config: Pick<LoadedConfig, "untrusted">): string[] {
  return untrustedRows(config).map(({ name, source, untrusted: state }) => {
    const why = state === "denied" ? "denied" : "not allowed yet, see `pi-mcp trust`";
    return `${sanitizeLine(name, 100)}  (${why}: ${sanitizeLine(source, 400)})\n`;
  });
}

export function unusedRows({ unused = [] }: Pick<LoadedConfig, "unused">) {
  return unused.map((entry) => ({
    name: entry.name,
    reason: entry.reason,
    ...entry.source,
    ...(entry.reason === "wrong" ? { message: entry.message } : entry.remedy && { remedy: entry.remedy }),
  }));
}

export function unusedLines({ unused = [] }: Pick<LoadedConfig, "unused">): string[] {
  return unused.map((entry) => `${sanitizeLine(entry.name, 100)}  (${sanitizeLine(describeUnused(entry), 1000)})\n`);
}
