import { sanitizeText } from "../../content/sanitize.ts";
import type { PiContext } from "./api.ts";

export const MCP_IS_TAKEN =
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
