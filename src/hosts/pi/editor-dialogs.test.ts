import { expect, test } from "vitest";
import { abilitiesOf } from "../../acp/client.ts";
import { elicitThrough } from "../../acp/elicitation.ts";
import { permissionThrough } from "../../acp/permission.ts";
import type { Dialogs } from "../../dialogs/dialogs.ts";
import type { Editor } from "./editor.ts";
import { askingEditor } from "./editor-dialogs.ts";
import type { Engine } from "./live-session.ts";

const { signal } = new AbortController();
const USE = { server: "fake", kind: "tool", name: "write", annotations: {}, why: "mode ask" } as const;
const FORM = { mode: "form", message: "Which?", schema: {} } as const;
const ADDRESS = { mode: "url", message: "Go there", url: "https://example.com", elicitationId: "1" } as const;

/** Who was asked, with an editor as it is at that moment. */
function asking(editor: () => Partial<Editor> | undefined) {
  const asked: string[] = [];
  const said = <Answer>(answer: Answer) => {
    asked.push("pi");
    return Promise.resolve(answer);
  };
  const pi: Dialogs = {
    permission: { ask: () => said("once"), tell: (text) => void asked.push(text) },
    elicit: { modes: ["form", "url"], ask: () => said({ action: "decline" }) },
  };
  const engine = async () => ({ abilitiesOf, elicitThrough, permissionThrough }) as unknown as Engine;
  const dialogs = askingEditor(engine, editor as () => Editor | undefined, pi);
  return { asked, dialogs };
}

test("the editor is asked while it is there, and pi's own dialogs show what it cannot", async () => {
  let isThere = true;
  const shown: string[] = [];
  const { asked, dialogs } = asking(() =>
    isThere
      ? {
          clientCapabilities: { elicitation: { form: {} } },
          port: {
            requestPermission: async () => {
              shown.push("permission");
              return { outcome: { outcome: "selected", optionId: "once" } };
            },
            elicit: async () => {
              shown.push("form");
              return { action: "accept", content: {} };
            },
          },
        }
      : undefined,
  );
  expect(await dialogs.permission.ask(USE, signal)).toBe("once");
  expect(await dialogs.elicit.ask("fake", FORM, signal)).toEqual({ action: "accept", content: {} });
  expect([shown, asked]).toEqual([["permission", "form"], []]);
  expect(await dialogs.elicit.ask("fake", ADDRESS, signal)).toEqual({ action: "decline" });
  isThere = false;
  await dialogs.permission.ask(USE, signal);
  await dialogs.elicit.ask("fake", FORM, signal);
  expect([shown.length, asked]).toEqual([2, ["pi", "pi", "pi"]]);
});

test("a person is told what pi's own dialogs would tell them", () => {
  const { asked, dialogs } = asking(() => undefined);
  dialogs.permission.tell?.("not kept");
  expect(asked).toEqual(["not kept"]);
});

test("an editor that does not answer allows nothing", async () => {
  const refuse = async () => {
    throw new Error("the editor refused");
  };
  const { asked, dialogs } = asking(() => ({ clientCapabilities: {}, port: { requestPermission: refuse } }));
  await expect(dialogs.permission.ask(USE, signal)).rejects.toThrow("refused");
  expect(asked).toEqual([]);
});
