import { isObject } from "../../is-object.ts";
import type { ServerInfo } from "../types.ts";
import { optional, stringOf } from "./fields.ts";

/** What a server calls itself; for display, nothing may depend on it. */
export function decodeServerInfo(value: unknown): ServerInfo {
  const info = isObject(value) ? value : {};
  return {
    name: stringOf(info.name) ?? "",
    version: stringOf(info.version) ?? "",
    ...optional("title", stringOf(info.title)),
  };
}
