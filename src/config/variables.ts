/**
 * `${NAME}` and `$NAME`; a name is `[A-Za-z_][A-Za-z0-9_]*` (S1-13). Whatever else has a dollar sign, such as `$5`,
 * `${bad name}` or `${NAME:-x}`, is text like any other.
 */
const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g;
const ONE_VARIABLE = new RegExp(`^${VARIABLE.source}$`);

export function holdsVariable(text: string): boolean {
  return text.search(VARIABLE) !== -1;
}

/** Whether the text is a variable and nothing else. */
export function isVariable(text: string): boolean {
  return ONE_VARIABLE.test(text);
}

/** Replaces each variable by what `substitute` makes of its name. What it returns is not searched again. */
export function replaceVariables(text: string, substitute: (name: string, written: string) => string): string {
  return text.replace(VARIABLE, (written: string, braced?: string, bare?: string) =>
    substitute(braced ?? bare ?? "", written),
  );
}
