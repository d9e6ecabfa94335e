import { lstatSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

/** Before what makes the name of a proxy's folder its own. */
export const FOLDER_PREFIX = "pi-mcp-acp-";

/** In a folder: what its proxy listens at. */
export const SOCKET_NAME = "s";

/** A folder that is younger may be of a proxy that is about to listen. */
const YOUNG_MS = 60_000;

/**
 * Removes the folders of proxies that were killed: those of this person in which nobody listens. On Windows nothing listens in
 * a folder, so there they stay. Never rejects.
 */
export async function removeLeftFolders(place: string): Promise<void> {
  if (process.platform === "win32") return;
  await Promise.all(namesIn(place).map((name) => removeIfLeft(join(place, name))));
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place).filter((name) => name.startsWith(FOLDER_PREFIX));
  } catch {
    return [];
  }
}

async function removeIfLeft(folder: string): Promise<void> {
  try {
    const entry = lstatSync(folder);
    if (!entry.isDirectory() || entry.uid !== process.getuid?.()) return;
    const answer = await knock(join(folder, SOCKET_NAME));
    const isLeft = answer === "ECONNREFUSED" || (answer === "ENOENT" && Date.now() - entry.mtimeMs > YOUNG_MS);
    if (isLeft) rmSync(folder, { recursive: true, force: true });
  } catch {
    // Somebody else removes it at this moment.
  }
}

/** `undefined` when somebody listens, else why nobody does. */
function knock(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
  });
}
