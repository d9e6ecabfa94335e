import type { PermissionPort } from "../permission/port.ts";
import type { ServerPort } from "../server/port.ts";
import { type Asker, takeTurns } from "./asker.ts";
import { askElicitation, type OpenAddress } from "./elicit.ts";
import { askPermission } from "./permission.ts";
import { askSample, type SampleModel } from "./sample.ts";

/** The members of a session's port that ask a person. */
export interface Dialogs {
  readonly permission: PermissionPort;
  readonly elicit: NonNullable<ServerPort["elicit"]>;
  /** Only where the host has a model. */
  readonly sample?: NonNullable<ServerPort["sample"]>;
}

/** All that is asked of a person, by one way to ask them, one dialog after the other. */
export function createDialogs(asker: Asker, open: OpenAddress, model?: SampleModel): Dialogs {
  const inTurn = takeTurns();
  return {
    permission: {
      ask: (request, signal) => inTurn(signal, () => askPermission(asker, request, signal)),
      tell: (text) => asker.tell(text),
    },
    elicit: {
      modes: ["form", "url"],
      ask: (server, request, signal) => inTurn(signal, () => askElicitation(asker, server, request, open, signal)),
    },
    ...(model && {
      sample: (server, params, signal) => inTurn(signal, () => askSample(asker, server, params, model, signal)),
    }),
  };
}
