import { expect, test } from "vitest";
import type { PermissionRequest } from "../permission/port.ts";
import type { JsonObject } from "../protocol/types.ts";
import { permissionThrough } from "./permission.ts";

const USE: PermissionRequest = { server: "fake", kind: "tool", name: "write", annotations: {}, why: "mode ask" };

/** The call that an editor is shown for a use. */
async function shown(use: Partial<PermissionRequest>) {
  const calls: JsonObject[] = [];
  const requestPermission = async ({ toolCall }: JsonObject) => {
    calls.push(toolCall as JsonObject);
    return { outcome: { outcome: "selected", optionId: "once" } };
  };
  const { signal } = new AbortController();
  expect(await permissionThrough({ requestPermission }, () => "s")?.ask({ ...USE, ...use }, signal)).toBe("once");
  return calls[0] ?? {};
}

test.each<[string, Partial<PermissionRequest>]>([
  ["fake: write", {}],
  ["fake: delete_all (Read file)", { name: "delete_all", annotations: { title: "Read file" } }],
  ["fake: write", { annotations: { title: "write" } }],
  ["fake: resource file:///a", { kind: "resource", name: "file:///a" }],
  ["fake: prompt review", { kind: "prompt", name: "review" }],
  ["fake: write it", { name: "write\u001b[2K\n\u202eit" }],
])("a person is asked about %s by its name, whatever its title says", async (title, use) => {
  expect(await shown(use)).toMatchObject({ title });
});

test("a person is told why they are asked", async () => {
  expect(await shown({ why: "mode ask\u001b[2K" })).toMatchObject({
    content: [{ type: "content", content: { type: "text", text: "mode ask" } }],
  });
});

test("uses without an id of the host have an id each", async () => {
  const ids = await Promise.all([{}, {}, { callId: "call-7" }].map(async (use) => (await shown(use)).toolCallId));
  expect(new Set(ids).size).toBe(3);
  expect(ids[2]).toBe("call-7");
});
