import type { LoadedConfig, UntrustedFile } from "../../../config/record.ts";

/** What is needed of the session's host to change its configuration. */
export interface ConfigHost {
  /** The folder the session works in. */
  readonly cwd: string;
  /** As it was last read; the session follows a moment later. */
  readonly config: LoadedConfig | undefined;
  untrusted(): readonly UntrustedFile[];
  /** Takes up what was changed. */
  reload(): void;
}
