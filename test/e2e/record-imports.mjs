// Given to pi with `--import`: writes each module that a file of the product asks for to the file in RECORD_IMPORTS.
// Plain JavaScript with the hooks of the oldest supported Node, since both hosts' Nodes run it.
import { appendFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  const file = process.env.RECORD_IMPORTS;
  const fromProduct = context.parentURL?.includes("/dist/pi") && !context.parentURL.includes("/node_modules/");
  const isProduct = resolved.url.endsWith("/dist/pi.js");
  if (file && (fromProduct || isProduct)) appendFileSync(file, `${resolved.url}\n`);
  return resolved;
}
