import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNpx } from "./command.ts";

const parse = (line: string) => {
  const [command = "", ...args] = line.split(" ");
  return parseNpx({ command, args });
};

describe("parseNpx", () => {
  it.each<[string, object]>([
    ["npx x", { name: "x", spec: "x", wanted: { tag: "latest" }, bin: undefined, args: [], folder: undefined }],
    ["npx -y @s/x@next a -b", { name: "@s/x", spec: "@s/x@next", wanted: { tag: "next" }, args: ["a", "-b"] }],
    ["npx x@1.2.3-rc.1", { name: "x", wanted: { version: "1.2.3-rc.1" } }],
    ["npx x@v1.2.3", { spec: "x@v1.2.3", wanted: { version: "1.2.3" } }],
    ["npx -p x y z", { name: "x", spec: "x", bin: "y", args: ["z"] }],
    ["npx --package=x@2.0.0 -- y z", { spec: "x@2.0.0", bin: "y", args: ["z"], wanted: { version: "2.0.0" } }],
    ["npx.cmd -y x a", { name: "x", args: ["a"] }],
    ["/opt/node/bin/npx x", { name: "x", folder: "/opt/node/bin" }],
    ["cmd /c npx -y x a", { name: "x", args: ["a"] }],
    ["npm exec x a -- --b", { name: "x", args: ["a", "--b"] }],
    ["npm exec --yes --package=x -- y -- z", { name: "x", bin: "y", args: ["--", "z"] }],
    ["npm x -y x", { name: "x" }],
    ["npm --yes exec x", { name: "x" }],
  ])("%s", (line, expected) => {
    expect(parse(line)).toMatchObject(expected);
  });

  it.each([
    ...["node x", "npx", "npx -y", "npx --", "npx -p x", "npx -p", "npx --package= x", "npx -p x -p y z", "npx -c x"],
    ...[
      "npx --no x",
      "npx --registry=http://r x",
      "npx x@^1.0.0",
      "npx x@1",
      "npx x@>=1",
      "npx x@*",
      "npx x@x.x",
      "npx x@v1",
    ],
    ...["npx x@", "npx x@1.0.0+build", "npx o/x", "npx .", "npx ../x", "npx /x", "npx file:x", "npx git+https://t@h/x"],
    ...["npx x@npm:y@1.0.0", "npx @s", "npx _x", "npx .x", "npx -p x ../y", "npx @s/../x"],
    ...["npm", "npm run x", "npm exec", "npm exec x --verbose", "npm exec -p x y", "npm exec -c x", "npm install x"],
    ...["./npx x", "bin/npx x", "cmd /c node x", "cmd /k npx x", "cmd /c npx x %PATH%", "cmd /c", "my-npx x"],
  ])("leaves `%s` alone", (line) => {
    expect(parse(line)).toBe(undefined);
  });

  it("has no argument of the server in its key", () => {
    const [one, two] = [parse("npx -y x --token=secret"), parse("npx -y x --token=other")];
    expect([one?.key, two?.key]).toEqual(['["npx","-y","x"]', '["npx","-y","x"]']);
    expect(parse("npm exec --package=x -- y secret")?.key).toBe('["npm","exec","--package=x","y"]');
  });

  it("hands a server of npx exactly the words behind the package", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (args) => {
        expect(parseNpx({ command: "npx", args: ["-y", "x@latest", ...args] })?.args).toEqual(args);
      }),
    );
  });

  it("throws at nothing", () => {
    const word = fc.oneof(
      fc.constantFrom("-y", "-p", "--package", "--package=x", "--", "exec", "x", "@s/x@1", "-"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.constantFrom("npx", "npm", "cmd"), fc.array(word), (command, args) => {
        const found = parseNpx({ command, args });
        expect(found === undefined || /^[^/.][^\\]*$/.test(found.name)).toBe(true);
      }),
    );
  });
});
