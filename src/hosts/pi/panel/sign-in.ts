import { openBrowser } from "../../../auth/browser.ts";
import type { McpSession } from "../../../session/session.ts";
import { askPerson } from "../../../tools/mcp-auth.ts";
import type { PiContext } from "../api.ts";

/**
 * Signs in to a server with a person who looks on: tells the address, and takes what they paste until the browser has brought
 * the answer by itself.
 */
export async function signInWith(session: McpSession, server: string, ctx: PiContext): Promise<string> {
  const flow = await session.signIn(server).start();
  ctx.ui.notify(askPerson(server, flow), "info");
  openBrowser(flow.url, process.env);
  const isDone = new AbortController();
  const done = flow.done.finally(() => isDone.abort());
  done.catch(() => {});
  const pasted = await ctx.ui.input?.(
    `Signing in to ${server}: open the address above in a browser. This closes by itself; where it does not, paste the address of the page the browser ended at.`,
    "http://127.0.0.1/…",
    { signal: isDone.signal },
  );
  if (!isDone.signal.aborted) {
    if (pasted === undefined || pasted.trim() === "")
      return `The sign-in to ${server} goes on until the browser has answered.`;
    await flow.complete(pasted.trim());
  }
  await done;
  return `Signed in to MCP server "${server}".`;
}
