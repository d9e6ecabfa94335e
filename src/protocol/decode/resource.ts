import { isObject } from "../../is-object.ts";
import type { Decoded } from "../list.ts";
import type { Resource, ResourceContents, ResourceTemplate } from "../types.ts";
import { optional, stringOf } from "./fields.ts";

/** One entry of `resources/list`: only its address is indispensable. */
export function decodeResource(value: unknown): Decoded<Resource> {
  const uri = isObject(value) ? stringOf(value.uri) : undefined;
  if (!isObject(value) || !uri) return { notice: "a resource without a uri was left out" };
  return {
    item: {
      uri,
      name: stringOf(value.name) ?? uri,
      ...optional("title", stringOf(value.title)),
      ...optional("description", stringOf(value.description)),
      ...optional("mimeType", stringOf(value.mimeType)),
      ...optional("size", typeof value.size === "number" ? value.size : undefined),
      raw: value,
    },
  };
}

/** One entry of `resources/templates/list`. */
export function decodeResourceTemplate(value: unknown): Decoded<ResourceTemplate> {
  const uriTemplate = isObject(value) ? stringOf(value.uriTemplate) : undefined;
  if (!isObject(value) || !uriTemplate) return { notice: "a resource template without a uriTemplate was left out" };
  return {
    item: {
      uriTemplate,
      name: stringOf(value.name) ?? uriTemplate,
      ...optional("title", stringOf(value.title)),
      ...optional("description", stringOf(value.description)),
      ...optional("mimeType", stringOf(value.mimeType)),
      raw: value,
    },
  };
}

/** The parts of `resources/read`; `uri` is what was asked for, for parts that name none. */
export function decodeContents(result: unknown, uri: string): ResourceContents[] {
  const contents = isObject(result) && Array.isArray(result.contents) ? result.contents : [];
  return contents.filter(isObject).map((part) => ({
    uri: stringOf(part.uri) ?? uri,
    ...optional("mimeType", stringOf(part.mimeType)),
    ...optional("text", stringOf(part.text)),
    ...optional("blob", stringOf(part.blob)),
  }));
}
