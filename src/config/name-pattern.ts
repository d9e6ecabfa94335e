/** Whether a name is, or fits, one of these. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name));
}

/** `*` stands for any characters, or none. Takes time in proportion to the texts, however many there are of it. */
export function matchesName(pattern: string, name: string): boolean {
  const [start = "", ...pieces] = pattern.split("*");
  const end = pieces.pop();
  if (end === undefined) return pattern === name;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - at >= end.length && name.endsWith(end);
}
