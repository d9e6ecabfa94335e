import { openBrowser } from "../../../auth/browser.ts";
import { visible } from "../../../config/problems.ts";
import { describeError } from "../../../error.ts";
import type { McpSession } from "../../../session/session.ts";
import { askPerson } from "../../../tools/mcp-auth.ts";
import type { PiContext } from "../api.ts";
import { tell } from "../notice.ts";

/**
 * Signs in to a server with a person who looks on: tells the address, and takes what they paste until the browser has brought
 * the answer by itself. Who dismisses that is told when it has; where nobody can be asked, the address is all there is.
 */
export async function signInWith(session: McpSession, server: string, ctx: PiContext): Promise<string> {
  const flow = await session.signIn(server).start();
  if (!ctx.hasUI) return askPerson(server, flow);
  tell({ hasUI: true, ctx }, askPerson(server, flow), "info");
  openBrowser(flow.url, process.env);
  const isOver = new AbortController();
  const done = flow.done.finally(() => isOver.abort());
  done.catch(() => {});
  const pasted = await ctx.ui.input?.(
    `Signing in to ${visible(server)}: open the address above in a browser. This closes by itself; where it does not, paste the address of the page the browser ended at.`,
    "http://127.0.0.1/…",
    { signal: isOver.signal },
  );
  if (!isOver.signal.aborted) {
    if (pasted === undefined || pasted.trim() === "") {
      done.then(
        () => tellLater(ctx, `Signed in to MCP server "${server}".`, "info"),
        (error: unknown) => tellLater(ctx, describeError(error), "error"),
      );
      return `The sign-in to MCP server "${server}" goes on until the browser has brought the answer.`;
    }
    await flow.complete(pasted.trim());
  }
  await done;
  return `Signed in to MCP server "${server}".`;
}

function tellLater(ctx: PiContext, text: string, type: "info" | "error"): void {
  try {
    tell({ hasUI: true, ctx }, text, type);
  } catch {
    // The session was replaced, and nobody waits for it.
  }
}
