/** Paths of `expected` that `actual` does not have, or has with another value. What `actual` has beyond that is fine. */
export function losses(expected: unknown, actual: unknown, path = ""): string[] {
  if (typeof expected !== "object" || expected === null) return expected === actual ? [] : [path];
  if (typeof actual !== "object" || actual === null) return [path];
  if (Array.isArray(expected) && (actual as unknown[]).length !== expected.length) return [path];
  return Object.entries(expected).flatMap(([key, value]) =>
    losses(value, (actual as Record<string, unknown>)[key], path === "" ? key : `${path}.${key}`),
  );
}
