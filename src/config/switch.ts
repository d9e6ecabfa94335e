import { editConfig } from "./edit.ts";
import { EditError } from "./edit-entries.ts";
import { quote, visible } from "./problems.ts";
import type { FieldSource, FilePosition, LoadedConfig } from "./record.ts";
import { describeUnused } from "./unused.ts";

export interface Switched {
  /** Where that is written now. */
  readonly file: string;
  readonly line: number;
  /** It was so already. */
  readonly isChanged: boolean;
}

/**
 * Switches a server on or off where it is written, be that a file of the person's own or of the project. Throws EditError with
 * a sentence for a name that is nowhere, for what is not switched but wrong, and for what stands in no file that is edited.
 */
export async function switchServer(
  config: Pick<LoadedConfig, "servers" | "unused">,
  name: string,
  on: boolean,
): Promise<Switched> {
  const place = placeOf(config, name, on);
  if ("line" in place) return { ...place, isChanged: false };
  const edited = await editConfig(place.file, [{ kind: "switch", name, on }]);
  const position = edited.servers[0]?.position;
  return { file: position?.file ?? edited.file, line: position?.line ?? 1, isChanged: edited.isChanged };
}

/** The file to edit, or where it is as it is wanted already. */
function placeOf(
  { servers, unused = [] }: Pick<LoadedConfig, "servers" | "unused">,
  name: string,
  on: boolean,
): { readonly file: string } | FilePosition {
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) {
    if (on) return server.source;
    const { disabled, enabled } = server.fields;
    const field: FieldSource | undefined = disabled ?? enabled;
    const layer = field?.layer ?? Object.values(server.fields).find(({ file }) => file === server.source.file)?.layer;
    if (layer !== "own" && layer !== "project") {
      throw new EditError(
        "failed",
        `${quote(name)} comes from ${visible(server.source.file)}, which is not edited from here.`,
        name,
      );
    }
    return { file: (field ?? server.source).file };
  }
  const entry = unused.find((each) => each.name === name);
  if (entry === undefined) throw new EditError("missing", `There is no MCP server named ${quote(name)}.`, name);
  if (entry.reason === "wrong")
    throw new EditError("failed", `MCP server ${quote(name)} ${describeUnused(entry)}.`, name);
  if (!on) return entry.source;
  if (entry.remedy === undefined)
    throw new EditError("failed", `MCP server ${quote(name)} ${describeUnused(entry)}.`, name);
  return { file: entry.source.file };
}
