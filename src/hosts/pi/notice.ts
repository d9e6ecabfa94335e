import { sanitizeText } from "../../content/sanitize.ts";
import type { PiContext } from "./api.ts";

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
