/** A value as JSON on several lines, for reading. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "null";
  } catch {
    return "[content too deeply nested to be shown]";
  }
}
