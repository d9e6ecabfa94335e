import { describeUntrustedFile } from "../../config/consent.ts";
import type { UntrustedFile } from "../../config/record.ts";
import { allowProject } from "../../config/trust-decisions.ts";
import { userEnvironment } from "../../config/user.ts";
import type { PiContext } from "./api.ts";
import type { ConfigHost } from "./panel/host.ts";
import { askAbout } from "./panel/page.ts";

/**
 * Asks, file by file, whether what this project's files would run is allowed. A "Not now" is not kept:
 * dialogs are dismissed for many reasons. What was allowed joins the session at once.
 */
export async function allowProjectFiles(host: ConfigHost, ctx: PiContext): Promise<string> {
  const untrusted = host.untrusted();
  if (untrusted.length === 0) return "Nothing of this project waits to be allowed.";
  if (!ctx.hasUI) {
    const texts = untrusted.map(describeUntrustedFile);
    return [...texts, "Nobody can be asked here: run `pi-mcp trust` in this folder."].join("\n\n");
  }
  const allowed: UntrustedFile[] = [];
  const notes: string[] = [];
  for (const file of untrusted) {
    const text = describeUntrustedFile(file);
    const answer = await askAbout(ctx, "Allow the MCP servers of this project?", text, "Allow");
    if (answer === undefined) {
      notes.push("A file is too long to be shown in a dialog: run `pi-mcp trust` in this folder.");
    }
    if (!answer) continue;
    allowProject(userEnvironment(), file);
    allowed.push(file);
  }
  if (allowed.length === 0) return [...notes, "Nothing was allowed."].join("\n");
  host.reload();
  const names = allowed.flatMap(({ servers }) => servers).length;
  return [...notes, `Allowed: ${names === 1 ? "1 server" : `${names} servers`}. They can be used now.`].join("\n");
}
