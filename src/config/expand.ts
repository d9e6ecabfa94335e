import { homedir } from "node:os";
import { expandHome } from "./paths.ts";
import type { ConfiguredSecret, ServerPolicy, ServerTarget } from "./record.ts";
import { looksSecret } from "./secrets.ts";
import { secretsOf } from "./target-secrets.ts";
import { isCommandValue, replaceVariables } from "./variables.ts";

/** A target ready to be started, and what must never be shown of it. */
export interface ExpandedTarget {
  readonly target: ServerTarget;
  /** For the redactor: values as configured and as expanded. */
  readonly secrets: readonly ConfiguredSecret[];
  /** Names of the variables that are not set, each once, in the order they were met. */
  readonly unset: readonly string[];
  /** Names of the variables and headers whose values are commands (`!command`), which are not run: it cannot start. */
  readonly commands: readonly string[];
}

/**
 * Replaces variables by their values in every string of a target but the names of variables and headers, and `~/` at
 * the start of the command, the directory and the names of files (and of arguments, where all forms of variables are
 * understood). Values are not looked into again: a variable that
 * holds `$X` stays so. To be called when the server is started and not before.
 */
export function expandTarget(
  target: ServerTarget,
  policy: Pick<ServerPolicy, "unsetVariable" | "variableForms">,
  env: NodeJS.ProcessEnv,
): ExpandedTarget {
  const unset = new Set<string>();
  /** A variable that is called like a secret is one wherever it ends up, also as a part of something longer. */
  const variables: ConfiguredSecret[] = [];
  const commands: string[] = [];

  function expand(text: string): string {
    if (policy.unsetVariable === "literal") return text;
    return replaceVariables(text, policy.variableForms, ({ name, written, isBare, fallback }) => {
      const value = env[name];
      if (fallback !== undefined && !value) return fallback;
      if (value === undefined) {
        unset.add(name);
        return policy.unsetVariable === "empty" && !isBare ? "" : written;
      }
      if (looksSecret(name)) variables.push({ value, isSecret: true });
      return value;
    });
  }

  /** The values of `env` and `headers`, which alone may be commands: `!x` as an argument is one of its own. */
  function expandValues(values: Readonly<Record<string, string>>): Record<string, string> {
    return mapValues(values, (value, name) => {
      if (isCommandValue(value, policy.variableForms)) commands.push(name);
      return expand(policy.variableForms === "all" && value.startsWith("!!") ? value.slice(1) : value);
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
          args: target.args.map(policy.variableForms === "all" ? expandPath : expand),
          env: expandValues(target.env),
          ...(target.cwd !== undefined && { cwd: expandPath(target.cwd) }),
        }
      : {
          ...target,
          url: expand(target.url),
          headers: expandValues(target.headers),
          ...(target.ca !== undefined && { ca: expandPath(target.ca) }),
          ...(target.cert !== undefined && { cert: expandPath(target.cert) }),
          ...(target.key !== undefined && { key: expandPath(target.key) }),
        };
  const secrets = [...variables, ...secretsOf(target), ...secretsOf(expanded)];
  return { target: expanded, secrets: secrets.filter(({ value }) => value.trim() !== ""), unset: [...unset], commands };
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
