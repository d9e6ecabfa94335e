import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { type ExpandedTarget, expandTarget, valueCommands } from "../config/expand.ts";
import type { HttpTarget, ServerConfig, StdioTarget } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { messageOf } from "../error.ts";
import { inheritedEnv, inheritedProxies, inheritedSecrets } from "../server/environment.ts";
import { findProgram } from "../server/find-program.ts";
import type { Surroundings } from "../server/open-transport.ts";
import { proxyFor } from "../transport/proxy.ts";
import { type Check, check, listNames } from "./check.ts";

/** What can be told of a server before it is started. Runs nothing and connects nowhere. */
export function checkStart(config: ServerConfig, surroundings: Surroundings): Check[] {
  const commands = valueCommands(config.target, config.policy.variableForms);
  const outputs = new Map(commands.map(({ command }) => [command, ""]));
  const expanded = expandTarget(config.target, config.policy, surroundings.env, outputs);
  const { target } = expanded;
  // Paths and folders are worth showing; what is called a secret in them is not.
  const hidden = expanded.secrets.filter(({ isSecret }) => isSecret);
  // The host of an address is shown in small letters.
  const inHosts = hidden.map(({ value }) => ({ value: value.toLowerCase(), isSecret: true }));
  const redactor = createRedactor([...hidden, ...inHosts], "values");
  const checks = [
    checkVariables(config, expanded, new Set(commands.map(({ name }) => name))),
    ...(target.kind === "stdio"
      ? [checkProgram(config, target, surroundings), checkEnvironment(config, surroundings)]
      : [checkAddress(config, target, surroundings)]),
  ];
  return checks.map((each) => ({
    ...each,
    text: redactor.text(each.text),
    ...(each.details && { details: each.details.map((line) => redactor.text(line)) }),
  }));
}

function placeOf({ source: { file, line } }: ServerConfig): string {
  return `${file}:${line}`;
}

function checkVariables(config: ServerConfig, { unset }: ExpandedTarget, fromCommands: ReadonlySet<string>): Check {
  const { unsetVariable, variableForms } = config.policy;
  if (unset.length === 0) {
    const names = fromCommands.size === 0 ? "" : `; run at the start for their values: ${listNames([...fromCommands])}`;
    return check("variables", "ok", `none is missing${names}`);
  }
  const becomes =
    unsetVariable === "empty"
      ? "as ${NAME} it becomes nothing, as $NAME it stays as it is"
      : "it stays as it is written";
  const fallback = variableForms === "all" ? ", or write what to take instead: ${NAME:-value}" : "";
  return check("variables", "warning", `not set: ${listNames(unset)} (${becomes})`, {
    hint: `set them where the agent is started${fallback}`,
  });
}

function checkProgram(config: ServerConfig, target: StdioTarget, { env, cwd }: Surroundings): Check {
  const { command } = target;
  const place = placeOf(config);
  const folder = resolve(cwd, target.cwd ?? ".");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = `make it, or correct "cwd" in ${place}`;
    return check("program", "failed", `the working directory ${folder} is not there`, { hint });
  }
  const given = { ...inheritedEnv(config.policy.inheritEnv, env), ...target.env };
  const { path, looked, fault, remark } = findProgram(command, { env: given, cwd: folder });
  if (fault === undefined) {
    return check("program", remark === undefined ? "ok" : "warning", [path, remark].filter(Boolean).join(" "));
  }
  if (path !== undefined) {
    return check("program", "failed", `${path} ${fault}`, { hint: `mend it, or name another "command" in ${place}` });
  }
  const isMissing = fault === "was not found";
  const [first = "", ...words] = command.split(/\s+/);
  const isLine = words.length > 0 && isMissing && findProgram(first, { env: given, cwd: folder }).fault === undefined;
  const hint = isLine
    ? `"command" is the program alone: write "command": "${first}" and the rest as "args" in ${place}`
    : isMissing
      ? `install it, or write its complete path as "command" in ${place}`
      : `${fault.endsWith("executable") ? "make it executable (chmod +x), or " : ""}correct "command" in ${place}`;
  return check("program", "failed", isMissing ? `\`${command}\` was not found` : fault, {
    details: isMissing ? looked.map((each) => `not there: ${each}`) : [],
    hint,
  });
}

function checkEnvironment(config: ServerConfig, { env }: Surroundings): Check {
  const { inheritEnv } = config.policy;
  const proxies = inheritedProxies(inheritEnv, env);
  const reaches = proxies.length === 0 ? "" : `; it is told of proxies by ${listNames(proxies)}`;
  if (inheritEnv === "safe") return check("environment", "ok", `it gets the basic variables and its own${reaches}`);
  const secrets = inheritedSecrets(inheritEnv, env);
  if (secrets.length === 0) return check("environment", "ok", `it gets all variables and its own${reaches}`);
  const text = `it gets all variables, among them what looks secret: ${listNames(secrets)}${reaches}`;
  const hint = `if it needs none of them, write "inheritEnv": "safe" in ${placeOf(config)}, and under "env" what it needs`;
  return check("environment", "warning", text, { hint });
}

function checkAddress(config: ServerConfig, target: HttpTarget, { env }: Surroundings): Check {
  const place = placeOf(config);
  if (!URL.canParse(target.url) || !/^https?:$/.test(new URL(target.url).protocol)) {
    const hint = `check "url" in ${place} and the variables in it`;
    return check("address", "failed", "with its variables filled in it is no http or https address", { hint });
  }
  const url = new URL(target.url);
  for (const field of ["ca", "cert", "key"] as const) {
    const file = target[field];
    if (file !== undefined && !isReadable(file)) {
      const hint = `correct "${field}" in ${place}`;
      return check("address", "failed", `the file ${file} ("${field}") cannot be read`, { hint });
    }
  }
  try {
    const proxy = proxyFor(url, env);
    const way = proxy === undefined ? "reached directly" : `through the proxy ${proxy.url.host} of ${proxy.variable}`;
    return check("address", "ok", `${url.protocol}//${url.host}, ${way}`);
  } catch (thrown) {
    return check("address", "failed", messageOf(thrown));
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
