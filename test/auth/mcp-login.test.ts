import { expect, test } from "vitest";
import { withCommand } from "../hosts/person.ts";
import { answerOf, browse, place } from "./open.ts";

const urlIn = (text: string | undefined) => /^http\S+$/m.exec(text ?? "")?.[0] ?? "";

test("/mcp login tells the address, takes what is pasted, and the panel says how it stands", async () => {
  const here = await place();
  await withCommand(
    here.home,
    { answers: [(told) => answerOf(urlIn(told.at(-1)))] },
    async (mcp, { statuses, asked }) => {
      expect(await mcp("reconnect s")).toMatch(/\/mcp-auth login s/);
      expect(statuses.at(-1)).toBe("MCP: s needs sign-in (/mcp)");
      expect(await mcp("login s")).toMatch(/\nSigned in to MCP server "s"\.$/);
      expect(asked).toEqual([expect.stringContaining("paste the address")]);
      expect(await mcp("reconnect s")).toMatch(/^s: connected/);
      expect(statuses.at(-1)).toBeUndefined();
      expect(await mcp("logout s")).toBe('Signed out of MCP server "s".');
      expect(await mcp("logout s")).toBe('There was no sign-in to MCP server "s".');
    },
  );
});

test("/mcp login is over when the browser has come back, also for who had stopped waiting", async () => {
  const here = await place();
  const back = async (told: readonly string[]) => {
    await browse(urlIn(told.at(-1)));
    // As a dialog that its signal closes.
    return undefined;
  };
  await withCommand(here.home, { answers: [back] }, async (mcp, { told }) => {
    await mcp("login s");
    await expect.poll(() => told.filter((text) => text === 'Signed in to MCP server "s".')).toHaveLength(1);
  });
});

test("without a person to ask, /mcp login tells the address and no more", async () => {
  const here = await place();
  await withCommand(here.home, { hasUI: false }, async (mcp, { errors }) => {
    await mcp("login s");
    expect(urlIn(errors.at(-1))).toMatch(/^http/);
  });
});
