import type { Dialogs } from "../../dialogs/dialogs.ts";
import type { Editor } from "./editor.ts";
import type { Engine } from "./live-session.ts";

/** The proxy puts in the session that the editor knows. */
const SESSION = () => "";

/**
 * The person is in front of the editor, which shows a question with the call that it is about: so it asks, as long as it is
 * there, and pi's own dialogs ask what it cannot show.
 */
export function askingEditor(
  engine: () => Promise<Engine>,
  editor: () => Editor | undefined,
  dialogs: Dialogs,
): Dialogs {
  return {
    ...dialogs,
    permission: {
      ...dialogs.permission,
      ask: async (...request) => {
        const { permissionThrough } = await engine();
        return (permissionThrough(editor()?.port, SESSION) ?? dialogs.permission).ask(...request);
      },
    },
    elicit: {
      modes: dialogs.elicit.modes,
      ask: async (server, request, signal) => {
        const { abilitiesOf, elicitThrough } = await engine();
        const shown = elicitThrough(editor()?.port, abilitiesOf(editor()?.clientCapabilities), SESSION);
        const asker = shown?.modes.includes(request.mode) ? shown : dialogs.elicit;
        return asker.ask(server, request, signal);
      },
    },
  };
}
