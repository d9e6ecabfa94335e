/** The scopes of a list, each once, in their order; empty ones are none [E283]. */
function scopesOf(text: unknown): string[] {
  const words = Array.isArray(text) ? text.filter((each) => typeof each === "string") : [String(text ?? "")];
  return [...new Set(words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== ""))];
}

export interface ScopeSources {
  /** From the configuration: then nothing else counts but what a step-up adds. */
  readonly configured?: string | undefined;
  readonly challenged?: string | undefined;
  readonly supportedByResource?: unknown;
  readonly supportedByAuthorizationServer?: unknown;
  /** What was asked for before, for a step-up (2026-07-28, authorization, scope challenge handling). */
  readonly before?: string | undefined;
  readonly wantsRefresh: boolean;
}

/**
 * What to ask for: the configured scopes, else what the server's challenge names, else all the resource has, else nothing
 * (2025-11-25, authorization, scope selection); with a step-up, all that was asked before as well. `offline_access` where
 * the authorization server lists it, for without it there would be a sign-in every hour [E115].
 */
export function chooseScope(sources: ScopeSources): string | undefined {
  const { configured, challenged, supportedByResource, supportedByAuthorizationServer, before, wantsRefresh } = sources;
  const own = scopesOf(configured);
  const asked = scopesOf(challenged);
  const chosen = own.length > 0 ? own : asked.length > 0 ? asked : scopesOf(supportedByResource);
  const all = new Set(before === undefined ? chosen : [...scopesOf(before), ...chosen, ...asked]);
  if (wantsRefresh && scopesOf(supportedByAuthorizationServer).includes("offline_access")) all.add("offline_access");
  return all.size === 0 ? undefined : [...all].join(" ");
}

/** Whether all scopes of the second are in the first. */
export function covers(granted: string | undefined, wanted: string | undefined): boolean {
  const have = new Set(scopesOf(granted));
  return scopesOf(wanted).every((scope) => have.has(scope));
}
