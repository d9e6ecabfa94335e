import { possibleExposures } from "./exposure.ts";
import type { ServerConfig, Surface } from "./record.ts";

/** What a host can do with tools beside declaring them. */
export interface HostAbilities {
  /** It keeps tools that a model finds by its own means (`exposure` of pi 0.99 and later). */
  readonly defersTools: boolean;
  /** Another extension has a tool called `mcp`. */
  readonly isMcpTaken: boolean;
}

/** The surface whose tools a server brings along for a model, if it brings any. */
export function gatewayOf(
  server: ServerConfig,
  { defersTools, isMcpTaken }: HostAbilities,
): Exclude<Surface, "direct"> | undefined {
  const { surface } = server.policy;
  if (surface === "gateway" && isMcpTaken) return "split";
  if (surface !== "direct") return surface;
  // Nothing may be out of reach that is not hidden.
  const needsOne = [...possibleExposures(server)].some(
    (exposure) => exposure === "gateway" || (!defersTools && (exposure === "deferred" || exposure === "codemode")),
  );
  return needsOne ? "split" : undefined;
}
