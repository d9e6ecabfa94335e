/**
 * The room rules of docs/architecture.md. The product is a house of floors, here from top to bottom; an import goes
 * down, never up and never to a room beside it.
 */
const FLOORS = [
  ["hosts/pi", "hosts/cli"],
  ["acp"],
  ["tools", "dialogs"],
  ["session"],
  ["server", "permission"],
  ["protocol", "auth", "catalog", "content", "config"],
  ["transport"],
];

/** What is no room: every room may name these, and they name no room. */
const COMMON = ["error", "is-object", "lock", "proc", "version", "config/record"];

/** Types alone, the shapes everything above the transports speaks of. */
const PROTOCOL_TYPES = "protocol/types";

/** Rooms that have no need of the floor below, though it lies below them. */
const NO_TRANSPORT = ["catalog", "content", "config"];

const file = (name) => `^src/${name}\\.ts$`;
const room = (name) => `^src/${name}/`;

/** What a room may not import: everything in src/ but itself, the floors below it and what all may name. */
const roomRules = FLOORS.flatMap((rooms, floor) =>
  rooms.map((name) => {
    const below = FLOORS.slice(floor + 1)
      .flat()
      .filter((other) => !(other === "transport" && NO_TRANSPORT.includes(name)));
    const types = name === "transport" ? [] : [PROTOCOL_TYPES];
    return {
      name: `room-${name.replace("/", "-")}`,
      comment: `src/${name}/ may import: ${["itself", ...below, ...COMMON, ...types].join(", ")}.`,
      severity: "error",
      from: { path: room(name), pathNot: ["\\.test\\.ts$", ...COMMON.map(file)] },
      to: { path: "^src/", pathNot: [room(name), ...below.map(room), ...[...COMMON, ...types].map(file)] },
    };
  }),
);

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...roomRules,
    {
      name: "common-names-no-room",
      comment: "What every room may name must not name a room.",
      severity: "error",
      from: { path: COMMON.map(file) },
      to: { path: "^src/", pathNot: COMMON.map(file) },
    },
    {
      name: "types-only",
      comment: "src/protocol/types.ts is named by rooms on its own floor, so it imports nothing.",
      severity: "error",
      from: { path: file(PROTOCOL_TYPES) },
      to: {},
    },
    {
      name: "known-room",
      comment: "Every folder in src/ is a room with a place among the floors.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: FLOORS.flat().map(room) },
      to: {},
    },
    {
      name: "no-cycle",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "product-alone",
      comment: "The product does not import its tests, its demo or its tools.",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { path: "^(test|demo|scripts|rows|dist)/" },
    },
    {
      name: "test-files-are-ends",
      comment: "A test file is imported by nothing.",
      severity: "error",
      from: {},
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "resolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "shipped-dependencies",
      comment:
        "The product's code runs with its dependencies alone; of others it may name types. The keyring is opted in to.",
      severity: "error",
      from: { path: "^src/", pathNot: ["\\.test\\.ts$", "^src/auth/keyring\\.ts$"] },
      to: {
        dependencyTypes: ["npm-dev", "npm-peer", "npm-optional", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "host-packages-at-the-door",
      comment: "A host's package is named by that host's door alone.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/hosts/" },
      to: { path: "pi-coding-agent|pi-0\\.73" },
    },
  ],
  options: {
    // `import type` is an arrow too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
