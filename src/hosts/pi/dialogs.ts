import type { Asker } from "../../dialogs/asker.ts";
import type { Dialogs } from "../../dialogs/dialogs.ts";
import type { PiContext } from "./api.ts";

/**
 * What asks the person in front of pi, also in RPC mode. Without a UI dialogs are answered at once with nothing, so there it is
 * not to be offered. A host that has moved on to another session throws: then nobody was asked.
 */
export function askingPort(
  { createDialogs, openBrowser }: Pick<typeof import("./engine.ts"), "createDialogs" | "openBrowser">,
  { ui }: PiContext,
): Dialogs {
  const asker: Asker = {
    select: (text, options, signal) => ui.select(text, [...options], { signal }),
    input: (text, hint, signal) => ui.input(text, hint, { signal }),
  };
  return createDialogs(asker, (address) => openBrowser(address, process.env));
}
