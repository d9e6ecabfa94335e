import { fileURLToPath } from "node:url";
import { PERMISSION_MODES } from "../../config/permission.ts";
import type { PermissionMode } from "../../config/record.ts";
import { type Command, textOption, UsageError } from "./command.ts";

const AGENT: readonly [string, ...string[]] = ["npx", "-y", "pi-acp"];

/** The extension, which is built beside this file. */
const EXTENSION = new URL("./pi.js", import.meta.url);

/** Stands between an editor and an agent that speaks ACP, so that the editor's MCP servers reach it. */
export const acp: Command = {
  name: "acp",
  help: [["acp [-- AGENT ARG …]", "run an ACP agent (npx -y pi-acp) with the MCP servers its editor hands over"]],
  options: {
    permission: { type: "string" },
    pi: { type: "string" },
    "no-shim": { type: "boolean" },
  },
  async run({ words, rest, values, options }) {
    if (words.length > 0) throw new UsageError("acp takes the agent's command behind `--`");
    const [program, ...args] = rest ?? AGENT;
    if (program === undefined || program === "") throw new UsageError("acp needs the agent's command behind `--`");
    const { runProxy } = await import("../../acp/proxy/run.ts");
    const pi =
      textOption(values, "pi") ?? process.env.PI_ACP_PI_COMMAND ?? (process.platform === "win32" ? "pi.cmd" : "pi");
    return runProxy({
      command: [program, ...args],
      env: process.env,
      cwd: process.cwd(),
      permission: modeOf(textOption(values, "permission")),
      ...(values["no-shim"] !== true && { shim: { pi, extension: fileURLToPath(EXTENSION) } }),
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      signal: options.signal,
    });
  },
};

function modeOf(written: string | undefined): PermissionMode | undefined {
  if (written === undefined) return undefined;
  const mode = PERMISSION_MODES.find((each) => each === written);
  if (mode === undefined)
    throw new UsageError(`--permission takes one of ${PERMISSION_MODES.join(", ")}, not \`${written}\``);
  return mode;
}
