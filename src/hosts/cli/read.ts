import { writeFile } from "node:fs/promises";
import { decodeBase64, formatBytes } from "../../content/bytes.ts";
import { presentResult } from "../../content/present.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { messageOf } from "../../error.ts";
import type { Resource, ResourceContents, ResourceTemplate } from "../../protocol/types.ts";
import type { McpSession } from "../../session/session.ts";
import { blocksOf } from "../../tools/resources.ts";
import { allWords, type Command, type CommandInput, textOption, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";

const URI_CHARS = 1_000;
const WORDS_CHARS = 200;
const NO_LIMIT = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY };

/** Prints a resource, or which there are. */
export const read: Command = {
  name: "read",
  help: [
    ["read <server>", "the resources of a server, and templates of their addresses"],
    ["read <server> <uri> [--save FILE]", "print a resource: its text, or its bytes where that is no terminal"],
  ],
  options: { ...SOURCE_OPTIONS, save: { type: "string" } },
  async run(input) {
    const [server, uri, ...more] = allWords(input);
    if (server === undefined || more.length > 0) throw new UsageError("read takes a server, and the uri of a resource");
    const file = textOption(input.values, "save");
    if (file !== undefined && uri === undefined) throw new UsageError("--save takes the uri of a resource, too");
    const session = openSession(input.values);
    try {
      if (uri === undefined) await list(session, server, input);
      else await readOne(session, { server, uri, file }, input);
      return EXIT.ok;
    } finally {
      await session.close({ keepResults: true });
    }
  },
};

async function list(session: McpSession, server: string, { terminal, options }: CommandInput): Promise<void> {
  const [resources, templates] = await Promise.all([
    session.listResources(server, { signal: options.signal }),
    session.listResourceTemplates(server, { signal: options.signal }),
  ]);
  if (terminal.json) {
    const plain = <T extends { raw: unknown }>(items: readonly T[]) => items.map(({ raw: _, ...item }) => item);
    const page = { server, resources: plain(resources), resourceTemplates: plain(templates) };
    return terminal.write(`${JSON.stringify(page)}\n`);
  }
  const rows = [
    ...resources.map((each) => rowOf(each.uri, each)),
    ...templates.map((each) => rowOf(each.uriTemplate, each)),
    ...session.status(server).notices,
  ];
  terminal.write(rows.length === 0 ? `MCP server \`${server}\` has no resources.\n` : `${rows.join("\n")}\n`);
}

function rowOf(
  address: string,
  { name, title = name, description = "", mimeType = "", ...rest }: Resource | ResourceTemplate,
) {
  const size = "size" in rest && rest.size !== undefined ? formatBytes(rest.size) : "";
  const facts = [mimeType, size].filter((fact) => fact !== "").join(", ");
  const words = [title === address ? "" : title, facts === "" ? "" : `(${facts})`, description];
  const row = words.filter((word) => word !== "").map((word) => sanitizeLine(word, WORDS_CHARS));
  return [sanitizeLine(address, URI_CHARS), row.join(" ")].join("  ").trimEnd();
}

interface Reading {
  readonly server: string;
  readonly uri: string;
  readonly file: string | undefined;
}

async function readOne(session: McpSession, { server, uri, file }: Reading, input: CommandInput): Promise<void> {
  const { terminal, options } = input;
  const contents = await session.readResource(server, uri, options);
  if (file !== undefined) return save(contents, uri, file);
  if (terminal.json) return terminal.write(`${JSON.stringify({ server, uri, contents })}\n`);
  const [only] = contents;
  const bytes = contents.length === 1 && only?.text === undefined ? decodeBase64(only?.blob ?? "") : undefined;
  if (bytes !== undefined && !process.stdout.isTTY) {
    process.stdout.write(bytes);
    return;
  }
  const result = { content: blocksOf(contents, uri), isError: false, raw: { contents } };
  const { blocks } = await presentResult(result, {
    tool: "resource",
    limit: NO_LIMIT,
    spill: session.spill,
    showImages: false,
  });
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  terminal.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** To the letter: what stands in a file is no screen. */
async function save(contents: readonly ResourceContents[], uri: string, file: string): Promise<void> {
  const [only] = contents;
  if (only === undefined || contents.length > 1) {
    throw new Error(
      `\`${sanitizeLine(uri, WORDS_CHARS)}\` has ${contents.length} parts, which are no file; \`--json\` has them all`,
    );
  }
  const bytes = only.text === undefined ? decodeBase64(only.blob ?? "") : Buffer.from(only.text);
  if (bytes === undefined) throw new Error(`the content of \`${sanitizeLine(uri, WORDS_CHARS)}\` is not base64`);
  await writeFile(file, bytes).catch((error: unknown) => {
    throw new Error(`the file could not be written: ${messageOf(error)}`);
  });
}
