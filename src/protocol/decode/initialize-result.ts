import type { JsonObject, ServerInfo } from "../types.ts";
import { isObject, optional, stringOf } from "./fields.ts";

export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: ServerInfo;
  readonly instructions: string | undefined;
}

/** The answer to `initialize`. A missing revision is read as the oldest: whatever it is, it cannot be newer. */
export function decodeInitializeResult(value: unknown): InitializeResult {
  const result = isObject(value) ? value : {};
  const info = isObject(result.serverInfo) ? result.serverInfo : {};
  return {
    protocolVersion: stringOf(result.protocolVersion) ?? "2024-10-07",
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: {
      name: stringOf(info.name) ?? "",
      version: stringOf(info.version) ?? "",
      ...optional("title", stringOf(info.title)),
    },
    instructions: stringOf(result.instructions),
  };
}
