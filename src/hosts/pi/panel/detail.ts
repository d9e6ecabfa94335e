import { sanitizeLine } from "../../../content/sanitize.ts";
import type { McpSession } from "../../../session/session.ts";
import { type Line, paragraph } from "./frame.ts";
import { factsOf, type Row, STATES } from "./rows.ts";

const LABEL_COLUMNS = 9;
const TOOL_TEXT_CHARS = 300;

export interface Detail {
  readonly lines: readonly Line[];
  /** Where in them a part begins. */
  readonly parts: { readonly tools: number; readonly log: number };
}

/** All that is known of one server. */
export function detailLines(session: McpSession, row: Row, signIn: string | undefined, width: number): Detail {
  const lines: Line[] = [];
  const fact = (label: string, text: string, color: "text" | "error" | "warning" = "text") => {
    const [first = [], ...rest] = paragraph(text, Math.max(width - LABEL_COLUMNS - 2, 8), color);
    lines.push([{ text: ` ${label.padEnd(LABEL_COLUMNS)} `, color: "muted" }, ...first]);
    for (const line of rest) lines.push([{ text: " ".repeat(LABEL_COLUMNS + 2) }, ...line]);
  };
  const { word, color } = STATES[row.state];
  const config = session.servers.find(({ name }) => name === row.name);
  const status = config && session.status(row.name);
  const more = [
    ...(row.toolCount === undefined ? [] : [row.toolCount === 1 ? "1 tool" : `${row.toolCount} tools`]),
    ...(status?.protocolVersion === undefined ? [] : [`protocol ${status.protocolVersion}`]),
    ...(status?.pid === undefined ? [] : [`process ${status.pid}`]),
  ];
  lines.push([
    { text: ` ${"state".padEnd(LABEL_COLUMNS)} `, color: "muted" },
    { text: word, color },
    { text: more.map((each) => ` · ${each}`).join(""), color: "muted" },
  ]);
  if (row.trouble !== undefined)
    fact("why", row.trouble, row.state === "failed" || row.state === "wrong" ? "error" : "warning");
  if (config === undefined) fact("from", `${row.source.file}:${row.source.line}`);
  else for (const [label, text] of factsOf(config)) fact(label, text);
  if (signIn !== undefined) fact("sign-in", signIn);
  for (const notice of status?.notices ?? []) fact("note", notice, "warning");

  const known = config && session.knownTools(row.name);
  const tools = lines.length;
  if (known !== undefined) {
    lines.push([], [{ text: ` Tools (${known.tools.length}${known.complete ? "" : ", and more"})`, isBold: true }]);
    for (const { name, description = "" } of known.tools) {
      const text = sanitizeLine(description, TOOL_TEXT_CHARS);
      lines.push([
        { text: `   ${name}`, color: "accent" },
        { text: text === "" ? "" : `  ${text}`, color: "muted" },
      ]);
    }
  }
  const log = lines.length;
  const words = config === undefined ? "" : session.words(row.name);
  if (words !== "") {
    lines.push([], [{ text: " What it has written to stderr, the last of it", isBold: true }]);
    for (const line of words.split("\n")) lines.push(...paragraph(line, width - 1, "muted", "   "));
  }
  return { lines, parts: { tools, log } };
}
