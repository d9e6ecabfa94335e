import { isObject } from "../../is-object.ts";
import type { JsonObject, ServerInfo } from "../types.ts";
import { stringOf } from "./fields.ts";
import { decodeServerInfo } from "./server-info.ts";

export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: ServerInfo;
  readonly instructions: string | undefined;
}

/** The answer to `initialize`. A missing revision is read as the oldest: whatever it is, it cannot be newer. */
export function decodeInitializeResult(value: unknown): InitializeResult {
  const result = isObject(value) ? value : {};
  return {
    protocolVersion: stringOf(result.protocolVersion) ?? "2024-10-07",
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: decodeServerInfo(result.serverInfo),
    instructions: stringOf(result.instructions),
  };
}
