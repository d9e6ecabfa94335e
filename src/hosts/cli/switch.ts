import { quote } from "../../config/problems.ts";
import { type Command, onlyName } from "./command.ts";
import { edit, FILE_OPTION, fileToEdit } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";

export const enable = switchCommand("enable", true, "use a server again");
export const disable = switchCommand("disable", false, "keep a server, but do not use it");

function switchCommand(word: "enable" | "disable", on: boolean, meaning: string): Command {
  return {
    name: word,
    help: [[`${word} <name>`, meaning]],
    options: FILE_OPTION,
    async run(input) {
      const name = onlyName(word, input);
      const { file, isChanged, servers } = await edit(
        fileToEdit(input.values),
        [{ kind: "switch", name, on }],
        input.options.signal,
      );
      const where = `${servers[0]?.position?.file ?? file}:${servers[0]?.position?.line ?? 1}`;
      input.terminal.write(
        isChanged ? `${word}d ${quote(name)}: ${where}\n` : `${quote(name)} was ${word}d already: ${where}\n`,
      );
      return EXIT.ok;
    },
  };
}
