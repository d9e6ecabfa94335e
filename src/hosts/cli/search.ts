import { describeSearch } from "../../tools/find.ts";
import { allWords, type Command, textOption, UsageError } from "./command.ts";
import { SOURCE_OPTIONS } from "./config-file.ts";
import { EXIT } from "./exit-codes.ts";
import { openSession } from "./open-session.ts";
import { toolRow } from "./tool-row.ts";

const FOUND = 10;

const HINTS = {
  next: "Use one with `pi-mcp call <server> <tool>`; `pi-mcp describe <server> <tool>` shows its whole schema.",
  list: "`pi-mcp list <server>` makes them known",
};

/** Finds tools among those that are known, and starts no server. */
export const search: Command = {
  name: "search",
  help: [
    ["search <words> [--server NAME]", "the tools that fit, of all servers that were listed before (starts none)"],
  ],
  options: { ...SOURCE_OPTIONS, server: { type: "string" } },
  async run(input) {
    const { terminal, values } = input;
    const query = allWords(input).join(" ").trim();
    if (query === "") throw new UsageError("search takes words that say what the tool should do");
    const server = textOption(values, "server");
    const session = openSession(values);
    try {
      const answer = session.search(query, { limit: FOUND, ...(server !== undefined && { server }) });
      if (terminal.json) {
        const found = answer.found.map(({ server: of, tool, score }) => ({ server: of, tool: toolRow(tool), score }));
        terminal.write(`${JSON.stringify({ ...answer, found })}\n`);
      } else terminal.write(`${describeSearch(query, answer, HINTS)}\n`);
      return EXIT.ok;
    } finally {
      await session.close();
    }
  },
};
