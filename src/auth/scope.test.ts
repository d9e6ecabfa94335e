import { expect, test } from "vitest";
import { chooseScope, covers } from "./scope.ts";

test.each<[Parameters<typeof chooseScope>[0], string | undefined]>([
  [{ wantsRefresh: true }, undefined],
  [{ supportedByResource: ["a", "b", ""], wantsRefresh: true }, "a b"],
  [{ challenged: "c", supportedByResource: ["a"], wantsRefresh: true }, "c"],
  [{ configured: "d", challenged: "c", supportedByResource: ["a"], wantsRefresh: true }, "d"],
  [{ challenged: "c", before: "a b", wantsRefresh: true }, "a b c"],
  [{ configured: "d", challenged: "c", before: "d", wantsRefresh: true }, "d c"],
  [{ challenged: "c", supportedByAuthorizationServer: ["offline_access"], wantsRefresh: true }, "c offline_access"],
  [{ challenged: "c", supportedByAuthorizationServer: ["offline_access"], wantsRefresh: false }, "c"],
  [{ supportedByResource: "a", supportedByAuthorizationServer: 7, wantsRefresh: true }, "a"],
])("of %j it asks for %j", (sources, scope) => {
  expect(chooseScope(sources)).toBe(scope);
});

test("covers all, or not", () => {
  expect([covers("a b", "b a"), covers("a", "a b"), covers(undefined, ""), covers(undefined, "a")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
