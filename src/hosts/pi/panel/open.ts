import { homedir } from "node:os";
import { describeError } from "../../../error.ts";
import type { McpSession } from "../../../session/session.ts";
import type { PiContext } from "../api.ts";
import { allowProjectFiles } from "../trust.ts";
import { serverActions } from "./actions.ts";
import { addServers, importServers, welcome } from "./add.ts";
import type { ConfigHost } from "./host.ts";
import type { Errand, PanelView } from "./options.ts";
import { McpPanel } from "./panel.ts";
import { signInWith } from "./sign-in.ts";

/** Shows the panel until it is closed. False, at once, where the host has no place for one. */
export async function openPanel(host: ConfigHost, session: McpSession, ctx: PiContext): Promise<boolean> {
  const view: PanelView = {};
  let isShown = false;
  for (;;) {
    const errand = await ctx.ui.custom?.<Errand | undefined>((tui, theme, keys, done) => {
      isShown = true;
      return new McpPanel({
        session,
        view,
        theme,
        keys,
        actions: serverActions(host, session),
        folders: { home: homedir(), cwd: host.cwd },
        welcome: () => welcome(host.cwd, "keys"),
        rows: () => tui.terminal.rows,
        requestRender: () => tui.requestRender(),
        leave: done,
      });
    });
    if (errand === undefined) return isShown;
    try {
      view.message = { text: await run(errand, host, session, ctx), color: "success" };
    } catch (error) {
      view.message = { text: describeError(error), color: "error" };
    }
  }
}

function run(errand: Errand, host: ConfigHost, session: McpSession, ctx: PiContext): Promise<string> {
  switch (errand.kind) {
    case "login":
      return signInWith(session, errand.server, ctx);
    case "trust":
      return allowProjectFiles(host, ctx);
    case "add":
      return addServers(host, ctx);
    case "import":
      return importServers(host, ctx);
  }
}
