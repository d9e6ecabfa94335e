/** A value as JSON on several lines, for reading. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "null";
  } catch {
    return "[content too deeply nested to be shown]";
  }
}

/** What a terminal obeys or nobody sees; escaped it is neither, and means the same. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** A value as JSON on one line, exactly, with every character in it to be seen. */
export function visibleJson(value: unknown): string {
  try {
    return escapeUnseen(JSON.stringify(value) ?? "null");
  } catch {
    return '"[content too deeply nested to be shown]"';
  }
}

/** A JSON text of one line that means the same, with every character in it to be seen. */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, (text) =>
    text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
