import { displayServer, LAYER_NAMES } from "../../../config/display.ts";
import { possibleExposures } from "../../../config/exposure.ts";
import type { FilePosition, ServerConfig } from "../../../config/record.ts";
import { describeUnused } from "../../../config/unused.ts";
import type { McpSession, ServerState } from "../../../session/session.ts";
import type { PiColor } from "../api.ts";

export type RowState = ServerState | "disabled" | "wrong" | "waiting" | "denied";

/** One entry of the configuration as a person sees it. */
export interface Row {
  readonly name: string;
  readonly state: RowState;
  /** Of tools, as far as that is known. */
  readonly toolCount: number | undefined;
  /** How a model comes to its tools; empty where it does not. */
  readonly exposure: string;
  readonly source: FilePosition;
  /** Why it does not work, or what is to be done. */
  readonly trouble: string | undefined;
  /** Tools that are not as a person has accepted them. */
  readonly changes: number;
}

export const STATES: Readonly<
  Record<RowState, { readonly mark: string; readonly word: string; readonly color: PiColor }>
> = {
  ready: { mark: "●", word: "ready", color: "success" },
  starting: { mark: "◐", word: "starting", color: "accent" },
  idle: { mark: "○", word: "not started", color: "dim" },
  stopped: { mark: "○", word: "stopped", color: "dim" },
  "needs-auth": { mark: "!", word: "needs sign-in", color: "warning" },
  failed: { mark: "✗", word: "failed", color: "error" },
  disabled: { mark: "-", word: "disabled", color: "dim" },
  wrong: { mark: "✗", word: "mistake", color: "error" },
  waiting: { mark: "?", word: "not allowed", color: "warning" },
  denied: { mark: "-", word: "denied", color: "dim" },
};

/** Every entry there is, used or not, by name. Starts nothing and asks nobody. */
export function rowsOf(session: McpSession, changesOf: (server: string) => number = () => 0): Row[] {
  const used = session.servers.map((config): Row => {
    const { state, error, toolCount } = session.status(config.name);
    return {
      name: config.name,
      state,
      toolCount: toolCount ?? session.knownTools(config.name)?.tools.length,
      exposure: exposureOf(config),
      source: config.source,
      changes: changesOf(config.name),
      trouble: error ?? changedNote(changesOf(config.name)),
    };
  });
  const unused = session.unused.map(
    (entry): Row => ({
      ...NONE,
      name: entry.name,
      state: entry.reason,
      source: entry.source,
      trouble: describeUnused(entry),
    }),
  );
  const untrusted = session.untrusted.flatMap(({ state, servers }) =>
    servers.map(({ name, source }): Row => ({ ...NONE, name, state, source, trouble: WAITING[state] })),
  );
  return [...used, ...unused, ...untrusted].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Whether it is a server of the session, and not only an entry. */
export function isUsed({ state }: Row): boolean {
  return !["disabled", "wrong", "waiting", "denied"].includes(state);
}

const NONE = { toolCount: undefined, exposure: "", changes: 0 };

function changedNote(count: number): string | undefined {
  if (count === 0) return undefined;
  return `${count === 1 ? "1 tool is" : `${count} tools are`} not as you accepted: p shows the difference, and asks.`;
}

const WAITING = {
  waiting: "It comes from a file of this project that nobody has allowed yet: a shows what it would run, and asks.",
  denied: "It comes from a file of this project that was denied: a shows what it would run, and asks again.",
};

function exposureOf(config: ServerConfig): string {
  const { surface } = config.policy;
  const words = [...possibleExposures(config)].flatMap((exposure) => {
    if (exposure !== "gateway") return [exposure];
    return surface === "gateway" ? ["by mcp"] : surface === "split" ? ["by mcp_call"] : [];
  });
  return words.join(", ");
}

/** What is configured for a server, one fact a line, each with its name. */
export function factsOf(config: ServerConfig): readonly (readonly [string, string])[] {
  const { file, line } = config.source;
  const layers = [...new Set(Object.values(config.fields).map(({ layer }) => LAYER_NAMES[layer]))];
  return [
    ["runs", displayServer(config)],
    ["from", `${file}:${line} (${layers.join(", ")})`],
    ["offered", exposureOf(config) || "not to the model"],
  ];
}
