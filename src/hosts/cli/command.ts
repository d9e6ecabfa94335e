import type { ParseArgsConfig } from "node:util";
import type { CommandOptions, Terminal } from "./terminal.ts";

/** The command line itself is wrong; the message is followed by where to read on. */
export class UsageError extends Error {}

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** What a command gets. */
export interface CommandInput {
  readonly terminal: Terminal;
  /** The words before `--` that are no options, without the command itself. */
  readonly words: readonly string[];
  /** The words behind `--`; absent without it. */
  readonly rest: readonly string[] | undefined;
  readonly values: OptionValues;
  readonly options: CommandOptions;
}

/** One command of `pi-mcp`. It returns the exit code; what it throws is reported in one line. */
export interface Command {
  readonly name: string;
  /** How it is called and what it does: lines of the help text. */
  readonly help: readonly (readonly [usage: string, meaning: string])[];
  /** Options of its own, beside those of all commands; one of the same name replaces that. */
  readonly options?: ParseArgsConfig["options"];
  /** Said when it gets an option it does not have. */
  readonly optionHint?: string;
  run(input: CommandInput): Promise<number>;
}

/** All words, for a command to which `--` means nothing but that no options follow. */
export function allWords({ words, rest = [] }: CommandInput): readonly string[] {
  return [...words, ...rest];
}

/** The one name a command takes. Throws UsageError for none or several. */
export function onlyName(command: string, input: CommandInput): string {
  const [name, ...more] = allWords(input);
  if (name === undefined || name === "" || more.length > 0)
    throw new UsageError(`${command} takes the name of one server`);
  return name;
}

export function textOption(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function textOptions(values: OptionValues, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
