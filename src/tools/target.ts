import type { McpSession } from "../session/session.ts";
import { ArgumentsError } from "./arguments.ts";

export interface ToolTarget {
  readonly server: string;
  readonly tool: string;
}

/** What models write between the name of a server and that of a tool. */
const SEPARATORS = ["/", ".", ":", "__"];

/**
 * Which tool of which server is meant [E257]. Models put both into one word, as `server/tool`, `server.tool`, `server_tool` or
 * `mcp__server__tool`, in the place of either, or leave the server out. What is known to exist decides; where that is more than
 * one tool, nothing is guessed. A server that is named by its very name is the one that is meant, and a tool of that name too, as
 * names may hold anything. What cannot be told is left as it is, for whoever looks it up to say.
 */
export async function readTarget(session: McpSession, written: ToolTarget, signal?: AbortSignal): Promise<ToolTarget> {
  const { server, tool } = written;
  const isServer = session.servers.some(({ name }) => name === server);
  if (isServer) return tool === "" ? written : { server, tool: await withoutServer(session, written, signal) };
  const word = tool === "" ? server : tool;
  if (word === "" || (server !== "" && tool !== "")) return written;
  const readings = readingsOf(session, word);
  const known = readings.filter((each) => isKnown(session, each));
  if (known.length > 1) {
    const calls = known.map((each) => `server ${JSON.stringify(each.server)} and tool ${JSON.stringify(each.tool)}`);
    throw new ArgumentsError(`\`${word}\` may be several tools; name one by ${calls.join(", or ")}`);
  }
  return known[0] ?? readings.find(({ isSure }) => isSure) ?? halvesOf(word) ?? written;
}

/** For an error that names what is no server. */
function halvesOf(word: string): ToolTarget | undefined {
  const [, server, tool] = /^([^/.]+)[/.](.+)$/s.exec(word) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

interface Reading extends ToolTarget {
  /** The word begins with the name of a configured server, and so means something though the server's tools are not known. */
  readonly isSure: boolean;
}

/** The longest name of a server first: names may hold separators themselves. */
function readingsOf(session: McpSession, word: string): Reading[] {
  const names = session.servers.map(({ name }) => name).sort((a, b) => b.length - a.length);
  return names.flatMap((server) => {
    const rests = [...SEPARATORS, "_"].flatMap((separator) =>
      [`${server}${separator}`, `mcp__${server}${separator}`]
        .filter((prefix) => word.startsWith(prefix) && word.length > prefix.length)
        .map((prefix) => ({ tool: word.slice(prefix.length), isSure: separator !== "_" })),
    );
    return [...rests, { tool: word, isSure: false }].map((rest) => ({ server, ...rest }));
  });
}

/** A tool's name without that of its server before it, where the server has a tool of that name and none of the whole. */
async function withoutServer(session: McpSession, { server, tool }: ToolTarget, signal?: AbortSignal): Promise<string> {
  const rests = readingsOf(session, tool).filter((each) => each.server === server && each.tool !== tool);
  if (rests.length === 0) return tool;
  // The call asks for the same list. A server that cannot be asked is for the call to tell.
  if (session.knownTools(server) === undefined) await session.listTools(server, signal && { signal }).catch(() => {});
  if (isKnown(session, { server, tool })) return tool;
  return rests.find((each) => isKnown(session, each))?.tool ?? tool;
}

function isKnown(session: McpSession, { server, tool }: ToolTarget): boolean {
  return session.knownTools(server)?.tools.some(({ name }) => name === tool) ?? false;
}
