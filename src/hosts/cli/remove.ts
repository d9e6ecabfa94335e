import { quote } from "../../config/problems.ts";
import { type Command, onlyName } from "./command.ts";
import { edit, FILE_OPTION, fileToEdit, serverInUse } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

export const remove: Command = {
  name: "remove",
  help: [["remove <name>", "take a server out of the file"]],
  options: FILE_OPTION,
  async run(input) {
    const name = onlyName("remove", input);
    const { file } = await edit(fileToEdit(input.values), [{ kind: "remove", name }], input.options.signal);
    input.terminal.write(`removed ${quote(name)} from ${file}\n`);
    const other = serverInUse(name)?.source;
    if (other !== undefined)
      console.error(`pi-mcp: ${quote(name)} is still in ${other.file}:${other.line}, which is used now.`);
    else await forget(name);
    return EXIT.ok;
  },
};

/** A server of that name that comes later is not the one that was signed in to. */
async function forget(name: string): Promise<void> {
  const { forgetCredentials } = await import("../../server/authorization.ts");
  if (await forgetCredentials(name, process.env)) console.error("pi-mcp: its sign-in was forgotten, too.");
}
