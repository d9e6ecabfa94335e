import { expect, it } from "vitest";
import { isPackageRunner } from "./package-runner.ts";

const stdio = ([command = "", ...args]: readonly string[]) => ({ kind: "stdio" as const, command, args, env: {} });
const words = (line: string) => stdio(line.split(" "));

it.each([
  ...["npx -y x", "/usr/local/bin/npx x", "npx.cmd -y x", "C:\\node\\npx.cmd x", "cmd /c npx -y x", "cmd.exe /C npx x"],
  ...["npm exec --package=x -- x", "npm --yes exec x", "npm x y", "pnpm dlx x", "yarn dlx x", "bunx x", "bun x y"],
  ...["uvx x", "uv tool run x", "uv --quiet tool run x", "pipx run x"],
  ...[
    "docker run -i x",
    "docker --context far run -i x",
    "docker container run x",
    "podman run -i x",
    "podman.exe run x",
  ],
])("%s may have to fetch its server", (line) => {
  expect(isPackageRunner(words(line))).toBe(true);
});

it.each([
  ...["node x.js", "npm run serve", "npm start", "uv pip x", "docker exec -i x run", "docker run --pull=never x"],
  ...["cmd /c node x", "my-npx x", "bun run x", "yarn x", "pnpm x dlx"],
])("%s does not", (line) => {
  expect(isPackageRunner(words(line))).toBe(false);
});

it("an address does not", () => {
  expect(isPackageRunner({ kind: "http", url: "https://h/npx", headers: {} })).toBe(false);
});
