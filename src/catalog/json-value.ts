/** Strings of a list that may be anything, each once. */
export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.filter((item): item is string => typeof item === "string"))] : [];
}

/** A value as JSON on one line, cut after so many characters. What has no JSON form is shown as `…`. */
export function shortJson(value: unknown, maxChars: number): string {
  try {
    return shortText(JSON.stringify(value) ?? "…", maxChars);
  } catch {
    return "…";
  }
}

/** The first characters of a text, `…` among them where some are left out; no pair of surrogates is cut apart. */
export function shortText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = maxChars - 1;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`;
}
