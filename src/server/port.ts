import type { SignIn } from "../auth/sign-in.ts";
import type { Elicitation, ElicitationAnswer } from "../protocol/handlers.ts";
import type { JsonObject, LogEntry, Root } from "../protocol/types.ts";

/**
 * What a host does for the servers of its session; each call names the server. What is missing is not offered to
 * servers. A host that offers `elicit` or `sample` shows a person who asks, and does nothing unasked.
 */
export interface ServerPort {
  readonly roots?: readonly Root[];
  readonly elicit?: {
    readonly modes: readonly Elicitation["mode"][];
    ask(server: string, request: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  };
  sample?(server: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /**
   * Asks a person to sign in to a server whose entry says `autoAuth`, which a 401 is the reason of. A host without a person in
   * front of it leaves it out, and nothing starts by itself.
   */
  askToSignIn?(server: string, flow: SignIn): void;
  /** Text of the server, not cleaned. */
  log?(server: string, entry: LogEntry): void;
  /** The tools of a server were listed again because it said that they have changed, or are others than were known before. */
  toolsChanged?(server: string): void;
  /**
   * What a server has beside tools, its resources and prompts, is other than was known before. A host that says this is told
   * of prompts as soon as there is a connection; others ask for them.
   */
  offersChanged?(server: string): void;
  /** A server's state, or what is known of it, has changed. */
  changed?(server: string): void;
  /** Tools of a server are not as a person has accepted them: one clean sentence, which nobody hears twice. */
  pinsChanged?(server: string, text: string): void;
  /** Something odd was mended, dropped or ignored: one clean sentence. */
  notice?(server: string, text: string): void;
}
