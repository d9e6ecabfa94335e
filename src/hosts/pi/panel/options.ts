import type { McpSession } from "../../../session/session.ts";
import type { PiColor, PiTheme } from "../api.ts";
import type { KeyTable } from "./keys.ts";
import type { Folders } from "./list.ts";

/** Of one server: the tools that are not as a person has accepted them. */
export interface ToolChanges {
  /** Each with its difference. */
  readonly text: string;
  readonly count: number;
  /** Accepts them as they were shown. Rejects where they are others by now. */
  accept(): Promise<string>;
}

/** What is done with a server; each resolves to what is to be said, and rejects with why it could not be done. */
export interface PanelActions {
  reconnect(server: string): Promise<string>;
  switchTo(server: string, on: boolean): Promise<string>;
  logout(server: string): Promise<string>;
  check(server: string): Promise<string>;
  /** Which tools are not as they were accepted. */
  changes(server: string): ToolChanges;
  /** Whether one is signed in; undefined for a server that nobody signs in to. */
  signInState(server: string): Promise<string | undefined>;
}

/** What needs dialogs of pi's own: the panel is left for it, and opened again afterwards. */
export type Errand =
  | { readonly kind: "login"; readonly server: string }
  | { readonly kind: "trust" | "add" | "import" };

/** What is kept while the panel is left for an errand. */
export interface PanelView {
  selected?: string | undefined;
  filter?: string;
  message?: { readonly text: string; readonly color: PiColor };
}

export interface PanelOptions {
  readonly session: McpSession;
  readonly actions: PanelActions;
  readonly view: PanelView;
  readonly theme: PiTheme;
  readonly keys: KeyTable;
  /** Places are shown as seen from these. */
  readonly folders: Folders;
  /** What to say where nothing is configured. */
  welcome(): string;
  /** Lines of the terminal. */
  rows(): number;
  requestRender(): void;
  leave(errand: Errand | undefined): void;
}
