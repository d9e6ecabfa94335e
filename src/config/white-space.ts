/** White space as Unicode has it (no-break spaces among it), and the zero-width characters that copying brings along. */
const HIDDEN = /[\s\u200b-\u200d\u2060\ufeff]/;

/** Removes white space and zero-width characters from both ends, in linear time. */
export function trimHidden(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && HIDDEN.test(text.charAt(start))) start++;
  while (end > start && HIDDEN.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
