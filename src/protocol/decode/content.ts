import { isObject } from "../../is-object.ts";
import type { ContentBlock } from "../types.ts";
import { optional, stringOf } from "./fields.ts";

/** One block of a result. What cannot be understood is kept as `unknown` with its type, never thrown. */
export function decodeContent(value: unknown): ContentBlock {
  if (!isObject(value)) return { type: "unknown", kind: typeof value };
  const type = stringOf(value.type) ?? "untyped";
  switch (type) {
    case "text":
      return typeof value.text === "string" ? { type, text: value.text } : { type: "unknown", kind: type };
    case "image":
    case "audio":
      return typeof value.data === "string"
        ? { type, data: value.data, mimeType: stringOf(value.mimeType) ?? "application/octet-stream" }
        : { type: "unknown", kind: type };
    case "resource_link":
      return {
        type,
        uri: stringOf(value.uri) ?? "",
        ...optional("name", stringOf(value.name)),
        ...optional("mimeType", stringOf(value.mimeType)),
        ...optional("description", stringOf(value.description)),
        ...optional("size", typeof value.size === "number" ? value.size : undefined),
      };
    case "resource": {
      const resource = isObject(value.resource) ? value.resource : {};
      return {
        type,
        uri: stringOf(resource.uri) ?? "",
        ...optional("mimeType", stringOf(resource.mimeType)),
        ...optional("text", stringOf(resource.text)),
        ...optional("blob", stringOf(resource.blob)),
      };
    }
    default:
      return { type: "unknown", kind: type };
  }
}
