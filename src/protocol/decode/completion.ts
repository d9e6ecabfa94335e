import { isObject } from "../../is-object.ts";
import type { Completion } from "../types.ts";
import { optional } from "./fields.ts";

/** The result of `completion/complete`. */
export function decodeCompletion(value: unknown): Completion {
  const completion = isObject(value) && isObject(value.completion) ? value.completion : {};
  const values = Array.isArray(completion.values) ? completion.values : [];
  return {
    values: values.filter((each) => typeof each === "string"),
    hasMore: completion.hasMore === true,
    ...optional("total", typeof completion.total === "number" ? completion.total : undefined),
  };
}
