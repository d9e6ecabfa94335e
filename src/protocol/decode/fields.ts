/** Small readers for values nobody promised anything about. */

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** `{[key]: value}` when there is a value, for spreading into records with optional fields. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
