import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Pin } from "./definition.ts";
import { openPins } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "pins-store-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pin = (hash: string, text = ""): [string, Pin] => [hash, { hash, definition: { name: hash, description: text } }];

it("keeps what was accepted, of each server by itself", async () => {
  const store = openPins(folder, "a", "/x/mcp.json");
  expect(store.read()).toBeUndefined();
  await store.update(() => ({ tools: new Map([pin("1")]), told: ["t"] }));
  expect(openPins(folder, "a", "/x/mcp.json").read()).toEqual({ tools: new Map([pin("1")]), told: ["t"] });
  expect(openPins(folder, "a", "/y/mcp.json").read()).toBeUndefined();
  expect(openPins(folder, "b", "/x/mcp.json").read()).toBeUndefined();
});

it("loses no change of several at once", async () => {
  const stores = Array.from({ length: 20 }, () => openPins(folder, "a", "f"));
  await Promise.all(
    stores.map((store, at) =>
      store.update((now) => ({ told: [], tools: new Map([...(now?.tools ?? []), pin(`tool-${at}`)]) })),
    ),
  );
  expect(stores[0]?.read()?.tools.size).toBe(20);
  expect(existsSync(join(folder, "a.lock"))).toBe(false);
});

it("knows of more than a file may hold that it has changed, and not from what", async () => {
  const store = openPins(folder, "a", "f");
  const tools = new Map(Array.from({ length: 100 }, (_, at) => pin(`t${at}`, "x".repeat(60_000))));
  await store.update(() => ({ tools, told: [] }));
  expect(readFileSync(store.file).length).toBeLessThan(100_000);
  expect(store.read()?.tools.get("t7")).toEqual({ hash: "t7" });
});
