import type { ConfiguredSecret } from "../config/record.ts";
import { createRedactor, type Redactor } from "../content/redact.ts";

/**
 * A redactor for the configured secrets and for those that come to be while the server is used, as the tokens of a sign-in
 * do. `more` gives the same list as long as there is nothing new.
 */
export function growingRedactor(
  secrets: readonly ConfiguredSecret[],
  mode: "patterns" | "values",
  more: () => readonly ConfiguredSecret[],
): Redactor {
  let known = more();
  let made = createRedactor([...secrets, ...known], mode);
  const current = (): Redactor => {
    const now = more();
    if (now !== known) {
      known = now;
      made = createRedactor([...secrets, ...now], mode);
    }
    return made;
  };
  return { text: (text) => current().text(text), json: (value) => current().json(value) };
}
