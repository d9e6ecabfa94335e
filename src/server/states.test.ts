import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { assertTransition, STATES, type State, type StateEvent, TRANSITIONS } from "./states.ts";

const states = Object.entries(STATES);
const transitions = Object.entries(TRANSITIONS);

it("docs/states.md says what the code does", async () => {
  const lines = [
    "# States of a server",
    "",
    "Made from `src/server/states.ts` by its test (`npx vitest run src/server/states.test.ts -u`). Each transition is made in",
    "one place in `src/server/link.ts`, which checks it against this table.",
    "",
    "| state | meaning |",
    "|---|---|",
    ...states.map(([state, meaning]) => `| ${state} | ${meaning} |`),
    "",
    "| from | event | to | when |",
    "|---|---|---|---|",
    ...transitions.map(([event, { from, to, when }]) => `| ${from.join(", ")} | ${event} | ${to} | ${when} |`),
    "",
  ];
  await expect(lines.join("\n")).toMatchFileSnapshot("../../docs/states.md");
});

it("each transition is made in one place", () => {
  const link = readFileSync(new URL("./link.ts", import.meta.url), "utf8");
  const made = [...link.matchAll(/#move\("([\w-]+)"/g)].map(([, event]) => event);
  expect(made.toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted());
});

it("every state is reached and left, and nothing else is possible", () => {
  for (const [state] of states) {
    if (state !== "idle") expect(transitions.some(([, { to }]) => to === state)).toBe(true);
    expect(transitions.some(([, { from, to }]) => (from as readonly string[]).includes(state) && to !== state)).toBe(
      true,
    );
  }
  for (const [state] of states) {
    for (const [event, { from }] of transitions) {
      const attempt = () => assertTransition(state as State, event as StateEvent);
      if ((from as readonly string[]).includes(state)) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(`a server that is ${state} cannot be ${event}`);
    }
  }
});
