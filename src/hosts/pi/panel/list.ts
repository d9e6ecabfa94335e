import { textWidth } from "../../../content/width.ts";
import type { Span } from "../render-line.ts";
import { column, type Line } from "./frame.ts";
import { type Row, STATES } from "./rows.ts";

const GAP = 2;
const STATE_COLUMNS = 13;
const TOOL_COLUMNS = 9;
/** A place that is cut shorter tells nothing. */
const LEAST_SOURCE_COLUMNS = 16;

export interface Folders {
  readonly home: string;
  readonly cwd: string;
}

/** Servers as a table: name and state always, the rest as far as there is room. */
export function listLines(rows: readonly Row[], selected: string | undefined, width: number, folders: Folders): Line[] {
  const nameColumns = Math.min(
    Math.max(...rows.map(({ name }) => textWidth(name)), 4),
    Math.max(8, Math.floor(width * 0.4)),
  );
  const exposureColumns = Math.max(...rows.map(({ exposure }) => textWidth(exposure)), 0);
  let left = width - 4 - nameColumns;
  const fits = (columns: number, least = columns) => {
    if (columns === 0 || left < least + GAP) return 0;
    left -= columns + GAP;
    return columns;
  };
  const stateColumns = fits(STATE_COLUMNS);
  const toolColumns = stateColumns && fits(TOOL_COLUMNS);
  const shownExposure = toolColumns && fits(exposureColumns);
  const sourceColumns = toolColumns && left >= LEAST_SOURCE_COLUMNS + GAP ? left - GAP : 0;
  return rows.map((row): Line => {
    const { mark, word, color } = STATES[row.state];
    const isSelected = row.name === selected;
    const gap: Span = { text: " ".repeat(GAP) };
    const cell = (text: string, columns: number, how: Omit<Span, "text">): Span[] =>
      columns === 0 ? [] : [gap, { text: column(text, columns), ...how }];
    return [
      { text: isSelected ? "> " : "  ", color: "accent" },
      row.changes > 0 ? { text: "! ", color: "warning" } : { text: `${mark} `, color },
      { text: column(row.name, nameColumns), color: isSelected ? "accent" : "text", isBold: isSelected },
      ...cell(word, stateColumns, { color }),
      ...cell(toolsWord(row.toolCount), toolColumns, { color: "muted" }),
      ...cell(row.exposure, shownExposure, { color: "muted" }),
      ...cell(placeOf(row, folders, sourceColumns), sourceColumns, { color: "dim" }),
    ];
  });
}

function toolsWord(count: number | undefined): string {
  if (count === undefined) return "";
  return count === 1 ? "1 tool" : `${count} tools`;
}

/** The end of a path says more than its beginning. */
function placeOf({ source }: Row, { home, cwd }: Folders, columns: number): string {
  const { file, line } = source;
  const isWithin = (folder: string) => file.startsWith(`${folder}/`);
  const short = isWithin(cwd) ? file.slice(cwd.length + 1) : isWithin(home) ? `~${file.slice(home.length)}` : file;
  const place = `${short}:${line}`;
  return place.length <= columns ? place : `…${place.slice(-Math.max(columns - 1, 0))}`;
}
