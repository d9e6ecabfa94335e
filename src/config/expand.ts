import { expandHome, personOf } from "./paths.ts";
import type { ConfiguredSecret, HttpTarget, ServerPolicy, ServerTarget, ValueCommand } from "./record.ts";
import { credentialsOf, looksSecret } from "./secrets.ts";
import { secretsOf } from "./target-secrets.ts";
import { commandOf, replaceVariables, type VariableForms } from "./variables.ts";

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
 * the start of the command, the directory and the names of files (and of arguments, where all forms of variables are
 * understood). Values are not looked into again: a variable that holds `$X` stays so. To be called when the server is
 * started and not before. `outputs` has the output of each command there is among the values (`valueCommands`), by the
 * command; without one it throws.
 */
export function expandTarget(
  target: ServerTarget,
  policy: Pick<ServerPolicy, "unsetVariable" | "variableForms">,
  env: NodeJS.ProcessEnv,
  outputs: ReadonlyMap<string, string> = new Map(),
): ExpandedTarget {
  const unset = new Set<string>();
  /** A variable that is called like a secret is one wherever it ends up, also as a part of something longer. */
  const variables: ConfiguredSecret[] = [];
  /** So is a part of a configured value, unless it is a place: `$HOME/bin`. */
  const isPart = (value: string) => !/^(?:[\\/~]|[A-Za-z]:[\\/])/.test(value);
  /** What a command writes is a secret, whatever its variable is called: why else would it not stand there. */
  const written: ConfiguredSecret[] = [];

  function expand(text: string, isValue = false): string {
    if (policy.unsetVariable === "literal") return text;
    return replaceVariables(text, policy.variableForms, ({ name, written, isBare, fallback }) => {
      const value = env[name];
      if (fallback !== undefined && !value) return fallback;
      if (value === undefined) {
        unset.add(name);
        return policy.unsetVariable === "empty" && !isBare ? "" : written;
      }
      const isSecret = looksSecret(name);
      if (isSecret || (isValue && isPart(value))) variables.push({ value, isSecret });
      return value;
    });
  }

  function outputOf(command: string): string {
    const output = outputs.get(command);
    if (output === undefined) throw new Error("A command was not run.");
    written.push({ value: output, isSecret: true }, { value: credentialsOf(output), isSecret: true });
    return output;
  }

  /** The values of `env` and `headers`, which alone may be commands: `!x` as an argument is one of its own. */
  function expandValues(values: Readonly<Record<string, string>>): Record<string, string> {
    return mapValues(values, (value) => {
      const command = commandOf(value, policy.variableForms);
      if (command !== undefined) return outputOf(command);
      return expand(policy.variableForms === "all" && value.startsWith("!!") ? value.slice(1) : value, true);
    });
  }

  function expandHttp({ bearerCommand, ...target }: HttpTarget): HttpTarget {
    const headers = expandValues(target.headers);
    if (bearerCommand !== undefined) headers.Authorization = `Bearer ${outputOf(bearerCommand)}`;
    const { headersCommand: command } = target;
    return {
      ...target,
      ...(command?.args && {
        headersCommand: {
          ...command,
          command: expandPath(command.command),
          args: command.args.map((arg) => expand(arg)),
          env: Object.fromEntries(Object.entries(command.env ?? {}).map(([name, text]) => [name, expand(text, true)])),
        },
      }),
      url: expand(target.url),
      headers,
      ...(target.ca !== undefined && { ca: expandPath(target.ca) }),
      ...(target.cert !== undefined && { cert: expandPath(target.cert) }),
      ...(target.key !== undefined && { key: expandPath(target.key) }),
    };
  }

  /** Only a `~` that was written is the home, not one that comes out of a variable. */
  function expandPath(text: string): string {
    const expanded = expand(text);
    if (policy.unsetVariable === "literal" || !/^~(?:$|[/\\])/.test(text)) return expanded;
    return expandHome(expanded, personOf(env).home);
  }

  const expanded: ServerTarget =
    target.kind === "stdio"
      ? {
          kind: "stdio",
          command: expandPath(target.command),
          args: target.args.map((arg) => (policy.variableForms === "all" ? expandPath(arg) : expand(arg))),
          env: expandValues(target.env),
          ...(target.cwd !== undefined && { cwd: expandPath(target.cwd) }),
        }
      : expandHttp(target);
  const secrets = [...variables, ...written, ...secretsOf(target), ...secretsOf(expanded)];
  return { target: expanded, secrets: secrets.filter(({ value }) => value.trim() !== ""), unset: [...unset] };
}

/** The commands among the values of a target, in the order they are written. Two may be the same. */
export function valueCommands(target: ServerTarget, forms: VariableForms): ValueCommand[] {
  const [field, values] =
    target.kind === "stdio" ? (["env", target.env] as const) : (["headers", target.headers] as const);
  const commands = Object.entries(values).flatMap(([name, value]): ValueCommand[] => {
    const command = commandOf(value, forms);
    return command === undefined ? [] : [{ field, name, command }];
  });
  const bearer = target.kind === "stdio" ? undefined : target.bearerCommand;
  return bearer === undefined
    ? commands
    : [...commands, { field: "bearerToken", name: "Authorization", command: bearer }];
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
