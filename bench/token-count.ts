import { encode } from "gpt-tokenizer";

/** In OpenAI's `o200k_base`; other models' tokenizers differ by a tenth or so. */
export function tokensOf(value: unknown): number {
  return encode(typeof value === "string" ? value : JSON.stringify(value)).length;
}

/** A line of a table: the first cell to the left, the others to the right. */
export function row(name: string, ...cells: readonly (string | number)[]): string {
  return `  ${name.padEnd(NAME_WIDTH)}${cells.map((cell) => String(cell).padStart(CELL_WIDTH)).join("")}`;
}

const NAME_WIDTH = 44;
const CELL_WIDTH = 12;
