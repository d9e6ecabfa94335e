import { describeWhole } from "../../tools/find.ts";
import { allWords, type Command, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";
import { toolRow } from "./tool-row.ts";

const NO_LIMIT = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY };

/** Shows all there is to know of a tool; starts its server only where that is not known yet. */
export const describe: Command = {
  name: "describe",
  help: [["describe <server> <tool>", "what a tool does, and the schema of its arguments"]],
  options: SOURCE_OPTIONS,
  async run(input) {
    const [server, tool, ...more] = allWords(input);
    if (server === undefined || tool === undefined || more.length > 0)
      throw new UsageError("describe takes a server and a tool");
    const { terminal, values, options } = input;
    const session = openSession(values);
    try {
      const found = await session.findTool(server, tool, options);
      const text = terminal.json
        ? JSON.stringify({ server, tool: toolRow(found) })
        : describeWhole(server, found, NO_LIMIT);
      terminal.write(`${text}\n`);
      return EXIT.ok;
    } finally {
      await session.close();
    }
  },
};
