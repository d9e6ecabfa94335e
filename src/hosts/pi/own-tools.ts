import type { ToolNames } from "../../catalog/names.ts";
import type { ConfigChanges } from "../../config/changes.ts";
import { firstTurnWaitMs } from "../../config/environment-limits.ts";
import { exposureOf, possibleExposures } from "../../config/exposure.ts";
import type { HostAbilities } from "../../config/gateways.ts";
import { startsWithSession } from "../../config/lifecycle.ts";
import { visible } from "../../config/problems.ts";
import type { Exposure, ServerConfig } from "../../config/record.ts";
import { describeError } from "../../error.ts";
import type { ToolDefinition } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import type { Engine } from "./live-session.ts";
import type { PiTools } from "./pi-tools.ts";

/** The session of the host that these tools are offered in. */
export interface OwnToolsHost extends HostAbilities {
  ready(): Promise<[Engine, McpSession]>;
  /** As it is configured now; `undefined` when it is gone, or the session has ended. */
  config(server: string): ServerConfig | undefined;
  tell(text: string, type?: "info" | "warning"): void;
}

/** The tools of servers that are tools of their own for the model, declared or found by the host's own means. */
export class OwnTools {
  readonly #tools: PiTools;
  readonly #names: ToolNames;
  readonly #host: OwnToolsHost;
  /** Names of what is offered now, by server. */
  readonly #offered = new Map<string, ReadonlySet<string>>();
  /** Settles when all that is declared is there or has failed, or the first turn has waited long enough. */
  #declared: Promise<unknown> = Promise.resolve();
  /** Likewise for what the host's own tools find. */
  #findable: Promise<unknown> = Promise.resolve();

  constructor(tools: PiTools, names: ToolNames, host: OwnToolsHost) {
    this.#tools = tools;
    this.#names = names;
    this.#host = host;
  }

  /** Takes up what has changed; returns at once. */
  follow({ added, replaced, removed }: ConfigChanges, servers: readonly ServerConfig[]): void {
    const changed = new Set([...added, ...replaced]);
    const having = servers.filter((server) => changed.has(server.name) && this.#mayHaveTools(server));
    const names = new Set(having.map(({ name }) => name));
    for (const name of [...removed, ...replaced]) if (!names.has(name)) this.#withdraw(name);
    for (const { name, policy } of servers) {
      if (changed.has(name) && startsWithSession(policy) && !names.has(name)) void this.#begin(name);
    }
    const declaring = having.filter((server) => possibleExposures(server).has("direct"));
    const finding = having.filter((server) => !declaring.includes(server));
    this.#declared = this.#waitFor(this.#declared, declaring, "say who is late");
    this.#findable = this.#waitFor(this.#findable, finding, "in silence");
  }

  /** Holds a turn until what it declares is there, but not for long. */
  async awaitDeclared(): Promise<void> {
    await this.#declared;
  }

  /** Likewise for a tool that finds or calls others. */
  async awaitFindable(): Promise<void> {
    await Promise.all([this.#declared, this.#findable]);
  }

  /** Offers a server's tools, also those it has since announced, and withdraws what it no longer has. Never rejects. */
  async offer(name: string): Promise<void> {
    // The session may end, and the server change or go, while this waits.
    const isWanted = () => {
      const server = this.#host.config(name);
      return server !== undefined && this.#mayHaveTools(server);
    };
    try {
      if (!isWanted()) return;
      const [engine, session] = await this.#host.ready();
      if (!isWanted()) return;
      const tools = await toolsOf(session, name);
      if (!isWanted()) return;
      const config = session.config(name);
      const chosen = tools.filter((tool) => this.#isOwn(exposureOf(config, tool.name)));
      const offered = engine.directTools(session, name, chosen, this.#names);
      for (const { run, ...tool } of offered) {
        const exposure = exposureOf(config, tool.target.tool) === "direct" ? "direct" : "deferred";
        this.#tools.offer(tool, run, exposure);
      }
      const names = new Set(offered.map((tool) => tool.name));
      this.#tools.withdraw([...(this.#offered.get(name) ?? [])].filter((former) => !names.has(former)));
      this.#offered.set(name, names);
    } catch (error) {
      if (isWanted()) this.#host.tell(describeError(error));
    }
  }

  #mayHaveTools(server: ServerConfig): boolean {
    return [...possibleExposures(server)].some((exposure) => this.#isOwn(exposure));
  }

  #isOwn(exposure: Exposure): boolean {
    return exposure === "direct" || (this.#host.defersTools && (exposure === "deferred" || exposure === "codemode"));
  }

  #waitFor(
    former: Promise<unknown>,
    servers: readonly ServerConfig[],
    late: "say who is late" | "in silence",
  ): Promise<unknown> {
    if (servers.length === 0) return former;
    const starting = new Set(servers.map(({ name }) => name));
    const offers = [...starting].map((name) => this.offer(name).finally(() => starting.delete(name)));
    const wait = limit(firstTurnWaitMs(process.env)).then(() => {
      if (late === "say who is late") this.#tellSlow([...starting]);
    });
    return Promise.race([Promise.all([former, ...offers]), wait]);
  }

  /** What has not started when the first turn goes on without it [S2-21]. */
  #tellSlow(starting: readonly string[]): void {
    const names = starting.filter((name) => this.#host.config(name) !== undefined).map((name) => visible(name));
    if (names.length === 0) return;
    this.#host.tell(`MCP servers still starting: ${names.join(", ")}. Their tools join when they are ready.`, "info");
  }

  /** The session starts it by itself; a person is told when that fails [S2-20]. */
  async #begin(name: string): Promise<void> {
    try {
      const [, session] = await this.#host.ready();
      await session.listTools(name);
    } catch (error) {
      if (this.#host.config(name) !== undefined) this.#host.tell(describeError(error));
    }
  }

  #withdraw(server: string): void {
    this.#tools.withdraw(this.#offered.get(server) ?? []);
    this.#offered.delete(server);
  }
}

/** Without connecting where that is not called for: the first call does, and tells if they have changed meanwhile. */
async function toolsOf(session: McpSession, name: string): Promise<readonly ToolDefinition[]> {
  const { policy } = session.config(name);
  const known = policy.directFrom === "known" && !startsWithSession(policy) ? session.knownTools(name) : undefined;
  return known?.tools ?? session.listTools(name);
}

/** Time enough; does not hold the process, a host that waits for it does. */
function limit(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
