import { homedir } from "node:os";
import { expandHome } from "./paths.ts";
import type { ConfiguredSecret, ServerPolicy, ServerTarget } from "./record.ts";
import { looksSecret } from "./secrets.ts";
import { secretsOf } from "./target-secrets.ts";
import { replaceVariables } from "./variables.ts";

/** A target ready to be started, and what must never be shown of it. */
export interface ExpandedTarget {
  readonly target: ServerTarget;
  /** For the redactor: values as configured and as expanded. */
  readonly secrets: readonly ConfiguredSecret[];
  /** Names of the variables that are not set, each once, in the order they were met. */
  readonly unset: readonly string[];
}

/**
 * Replaces variables by their values in every string of a target but the names of variables and headers, and `~/` at
 * the start of the command, the directory and the names of files. Values are not looked into again: a variable that
 * holds `$X` stays so. To be called when the server is started and not before.
 */
export function expandTarget(
  target: ServerTarget,
  policy: Pick<ServerPolicy, "unsetVariable">,
  env: NodeJS.ProcessEnv,
): ExpandedTarget {
  const unset = new Set<string>();
  /** A variable that is called like a secret is one wherever it ends up, also as a part of something longer. */
  const variables: ConfiguredSecret[] = [];

  function expand(text: string): string {
    if (policy.unsetVariable === "literal") return text;
    return replaceVariables(text, (name, written) => {
      const value = env[name];
      if (value === undefined) {
        unset.add(name);
        // A bare name may be no variable at all: `pa$$word`.
        return policy.unsetVariable === "empty" && written.startsWith("${") ? "" : written;
      }
      if (looksSecret(name)) variables.push({ value, isSecret: true });
      return value;
    });
  }

  /** Only a `~` that was written is the home, not one that comes out of a variable. */
  function expandPath(text: string): string {
    const expanded = expand(text);
    if (policy.unsetVariable === "literal" || !/^~(?:$|[/\\])/.test(text)) return expanded;
    return expandHome(expanded, env.HOME || env.USERPROFILE || homedir());
  }

  const expanded: ServerTarget =
    target.kind === "stdio"
      ? {
          kind: "stdio",
          command: expandPath(target.command),
          args: target.args.map(expand),
          env: mapValues(target.env, expand),
          ...(target.cwd !== undefined && { cwd: expandPath(target.cwd) }),
        }
      : {
          ...target,
          url: expand(target.url),
          headers: mapValues(target.headers, expand),
          ...(target.ca !== undefined && { ca: expandPath(target.ca) }),
          ...(target.cert !== undefined && { cert: expandPath(target.cert) }),
          ...(target.key !== undefined && { key: expandPath(target.key) }),
        };
  const secrets = [...variables, ...secretsOf(target), ...secretsOf(expanded)];
  return { target: expanded, secrets: secrets.filter(({ value }) => value.trim() !== ""), unset: [...unset] };
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
