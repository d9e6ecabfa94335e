import type { PiContext } from "./api.ts";

/** Without a UI notices would vanish: there they go to stderr. */
export function tell(
  { hasUI, ctx }: { readonly hasUI: boolean; readonly ctx: PiContext },
  text: string,
  type: "info" | "warning" | "error",
): void {
  if (hasUI) ctx.ui.notify(text, type);
  else console.error(text);
}
