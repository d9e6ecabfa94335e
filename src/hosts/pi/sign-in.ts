import type { SignIn } from "../../auth/sign-in.ts";
import { describeError } from "../../error.ts";

import type { Engine } from "./live-session.ts";

/** Asks the person to sign in, as the entry of the server allows: in the browser where there is one, and in words. */
export function askToSignIn(
  { askPerson, openBrowser }: Engine,
  server: string,
  flow: SignIn,
  say: (text: string, type: "info" | "warning") => void,
): void {
  say(askPerson(server, flow), "info");
  openBrowser(flow.url, process.env);
  flow.done.then(
    () => say(`Signed in to MCP server "${server}".`, "info"),
    (error: unknown) => say(describeError(error), "warning"),
  );
}
