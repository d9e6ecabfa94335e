import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../content/redact.ts";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import type { StderrSink } from "./stderr-log.ts";

const LINE_CHARS = 2_000;
/** What waits for the end of its line. */
const MAX_WAITING_CHARS = 64 * 1024;

/** Gives a server's stderr to a host line by line, without secrets and without anything a terminal would obey. */
export function stderrLines(redactor: Redactor, show: (line: string) => void): StderrSink {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const tell = (line: string) => {
    const text = sanitizeLine(redactor.text(sanitizeText(line)), LINE_CHARS);
    if (text !== "") show(text);
  };
  const take = (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) tell(line);
    if (rest.length < MAX_WAITING_CHARS) return;
    tell(rest);
    rest = "";
  };
  return {
    write: (chunk) => take(decoder.write(chunk)),
    close: async () => take(`${decoder.end()}\n`),
  };
}
