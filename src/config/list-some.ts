/** The first of many names for a sentence, and how many more there are. */
export function listSome(names: readonly string[], shown: number): string {
  const more = names.length - shown;
  return names.slice(0, shown).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
