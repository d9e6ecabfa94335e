import fc from "fast-check";
import { expect, test } from "vitest";
import { readChallenge } from "./challenge.ts";

test.each<[string[], object]>([
  [[], {}],
  [["Bearer"], {}],
  [["Basic realm=x"], {}],
  [['Bearer scope="a b", error="insufficient_scope"'], { scope: "a b", error: "insufficient_scope" }],
  [['bearer SCOPE="a\\"b"'], { scope: 'a"b' }],
  [['Basic realm="Bearer scope=x", Bearer scope=y'], { scope: "y" }],
  [["Basic realm=x", 'Bearer resource_metadata="https://h/m"'], { resourceMetadata: "https://h/m" }],
  [["Negotiate YWJj==, Bearer scope=y"], { scope: "y" }],
  [["DPoP algs=ES256"], { onlyDpop: true }],
  [["DPoP algs=ES256, Bearer"], {}],
  [['Bearer scope=""'], {}],
  [["Bearer scope=a", "Bearer scope=b, error=c"], { scope: "a", error: "c" }],
])("%j is read as %j", (values, challenge) => {
  expect(readChallenge(values)).toEqual(challenge);
});

test("whatever is sent, it ends and throws nothing", () => {
  const noise = fc.string({ unit: fc.constantFrom(...'Bearer =,"\\ \tscope()/é'), maxLength: 200 });
  fc.assert(fc.property(fc.array(noise, { maxLength: 4 }), (values) => typeof readChallenge(values) === "object"));
});
