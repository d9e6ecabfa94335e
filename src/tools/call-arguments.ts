import { type ArgumentCheck, argumentCheck } from "../catalog/argument-check.ts";
import { expectedParameters, nearestCall } from "../catalog/expected-parameters.ts";
import { repairArguments } from "../catalog/repair.ts";
import { sanitizeText } from "../content/sanitize.ts";
import type { JsonObject, ToolDefinition } from "../protocol/types.ts";
import type { McpSession } from "../session/session.ts";

export interface CallTarget {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject | undefined;
}

/** Arguments as they are sent. */
export interface CallArguments {
  readonly args: JsonObject | undefined;
  /** What was changed in what the model wrote, one sentence each. */
  readonly repairs: readonly string[];
}

/** What a model is told of its arguments after a failure. */
export interface ArgumentAdvice {
  /** Whether the schema itself refuses the arguments: then they are likely the reason. */
  readonly areWrong: boolean;
  readonly text: string;
}

/** So much of an answer may be about its arguments. */
const MAX_ADVICE_CHARS = 4_000;

/**
 * Arguments in the form the tool's schema asks for, where its definition is known; no list is read for it. What does not fit
 * even then is sent as it is: schemas say more and less than their servers do, and may be older than they are, and a call
 * that the server would have taken must not end here. What is wrong is said when the server has refused.
 */
export async function prepareArguments(
  session: McpSession,
  { server, tool, args }: CallTarget,
): Promise<CallArguments> {
  const check = await checkOf(session, server, tool);
  if (check === undefined) return { args, repairs: [] };
  const repaired = repairArguments(args ?? {}, check);
  return repaired.repairs.length === 0 && args === undefined ? { args, repairs: [] } : repaired;
}

/** What is wrong with arguments that a server has refused, what it expects, and the nearest call that fits. */
export async function adviseArguments(
  session: McpSession,
  { server, tool, args = {} }: CallTarget,
  repairs: readonly string[],
): Promise<ArgumentAdvice | undefined> {
  const definition = definitionOf(session, server, tool);
  if (definition === undefined) return undefined;
  const check = await checkOf(session, server, tool);
  const problems = check?.problems(args) ?? [];
  const near = problems.length > 0 && check !== undefined ? nearestCall(args, check) : undefined;
  const lines = [
    ...(problems.length > 0
      ? ["The arguments do not fit the tool's schema:", ...problems.map((line) => `- ${line}`)]
      : []),
    ...(repairs.length > 0 ? [`Changed before sending: ${repairs.join("; ")}`] : []),
    expectedParameters(definition.inputSchema),
    ...(near === undefined ? [] : [`Nearest valid call: ${near}`]),
  ];
  const text = sanitizeText(lines.join("\n"));
  return {
    areWrong: problems.length > 0,
    text: text.length > MAX_ADVICE_CHARS ? `${text.slice(0, MAX_ADVICE_CHARS)}…` : text,
  };
}

/** As a connection of this session has listed it, without configured secrets; before there is one, as it was listed last, which is what the model has read. */
function definitionOf(session: McpSession, server: string, tool: string): ToolDefinition | undefined {
  return session.knownTool(server, tool) ?? session.knownTools(server)?.tools.find(({ name }) => name === tool);
}

async function checkOf(session: McpSession, server: string, tool: string): Promise<ArgumentCheck | undefined> {
  const definition = definitionOf(session, server, tool);
  return definition && (await argumentCheck(definition.inputSchema));
}

/** Words by which servers say in a result that they did not like the arguments: MCP has no field for it. */
const REFUSAL =
  /\b(validation error|input validation|invalid (arguments?|params|parameters?|input)|(missing|requires?|required) (a |the )?(required )?(arguments?|parameters?|property|properties|field)|is a required property|field required|unexpected keyword|unrecognized_keys?|invalid_type)\b/i;
/** An error that says so says it at once; what comes later is data. */
const REFUSAL_CHARS = 2_000;

/** Whether the text of a failed result blames the arguments. */
export function blamesArguments(text: string): boolean {
  return REFUSAL.test(text.slice(0, REFUSAL_CHARS));
}
