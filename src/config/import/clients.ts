import { claudeCode } from "./claude-code.ts";
import { claudeDesktop } from "./claude-desktop.ts";
import type { ImportClient } from "./client.ts";
import { codex } from "./codex.ts";
import { cline, cursor, lmStudio, roo, vscode, windsurf } from "./editors.ts";
import { gemini } from "./gemini.ts";
import { goose } from "./goose.ts";
import { grok } from "./grok.ts";
import { mcporter } from "./mcporter.ts";
import { opencode } from "./opencode.ts";
import { zed } from "./zed.ts";

/** All programs whose servers can be imported. Of two with a server of one name the earlier one's is taken. */
export const IMPORT_CLIENTS: readonly ImportClient[] = [
  ...[claudeCode, claudeDesktop, cursor, vscode, windsurf, codex, gemini, opencode],
  ...[zed, goose, cline, roo, lmStudio, mcporter, grok],
];
