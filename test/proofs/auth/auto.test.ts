import { expect, test } from "vitest";
import type { SignIn } from "../../../src/auth/sign-in.ts";
import { browse, call, type Place, place } from "../../auth/open.ts";

const auto = { entry: { autoAuth: true } };

/** A session with a person in front of it, who does as told, and the addresses they were shown. */
function attended(here: Place, person: (flow: SignIn) => unknown) {
  const shown: string[] = [];
  const session = here.open({
    askToSignIn(server, flow) {
      shown.push(`${server} ${flow.url}`);
      void person(flow);
    },
  });
  return { session, shown };
}

test("with autoAuth a 401 asks the person who is there, and the call goes on; three at once ask once [E107]", async () => {
  const here = await place(auto);
  const { session, shown } = attended(here, ({ url }) => browse(url));
  expect(await Promise.all(["1", "2", "3"].map((text) => call(session, text)))).toEqual(["echo 1", "echo 2", "echo 3"]);
  expect(shown).toEqual([expect.stringContaining(`s ${here.authorization.issuer}/authorize?`)]);
});

test("who lets it pass is not asked again, until they sign in themselves", async () => {
  const here = await place(auto);
  const { session, shown } = attended(here, (flow) => flow.cancel("not now"));
  await expect(call(session)).rejects.toMatchObject({
    category: "needs-auth",
    message: expect.stringMatching(/signing in failed: not now\. Run \/mcp-auth login s/),
  });
  await expect(call(session)).rejects.toMatchObject({ category: "needs-auth" });
  expect(shown).toHaveLength(1);
  const flow = await session.signIn("s").start();
  await browse(flow.url);
  await flow.done;
  expect(await call(session)).toBe("echo hi");
});

test("a call does not wait for ever for a person, and later ones find what they have done", async () => {
  const here = await place({ entry: { autoAuth: true, requestTimeoutMs: 60_000 } });
  let flow: SignIn | undefined;
  const { session, shown } = attended(here, (given) => {
    flow = given;
  });
  await expect(call(session)).rejects.toMatchObject({
    category: "needs-auth",
    message: expect.stringContaining("a person was asked to sign in and has not done so yet"),
  });
  await browse(flow?.url ?? "");
  await flow?.done;
  expect(await call(session)).toBe("echo hi");
  expect(shown).toHaveLength(1);
}, 60_000);

test.each([
  ["without autoAuth", {}, true],
  ["with autoAuth: false", { entry: { autoAuth: false } }, true],
  ["where nobody is there", auto, false],
])("%s nothing starts by itself", async (_, options, isAttended) => {
  const here = await place(options);
  const { session, shown } = attended(here, () => {});
  const used = isAttended ? session : here.open();
  await expect(call(used)).rejects.toMatchObject({ category: "needs-auth" });
  expect([shown, here.authorization.requests]).toEqual([[], []]);
});
