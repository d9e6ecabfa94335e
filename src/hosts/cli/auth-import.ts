import { FOREIGN_PROGRAMS, type ForeignProgram } from "../../auth/foreign.ts";
import type { Adoption } from "../../auth/server-auth.ts";
import { maySignIn } from "../../config/may-sign-in.ts";
import { sanitizeLine } from "../../content/sanitize.ts";
import { messageOf } from "../../error.ts";
import type { McpSession } from "../../session/session.ts";
import { type CommandInput, textOption, UsageError } from "./command.ts";
import { EXIT, EXIT_OF_CATEGORY } from "./exit-codes.ts";

export const IMPORT_OPTIONS = {
  from: { type: "string" },
  "dry-run": { type: "boolean" },
  force: { type: "boolean" },
} as const;

interface Row {
  readonly server: string;
  readonly adoption: Adoption;
  readonly status: Awaited<ReturnType<ReturnType<McpSession["signIn"]>["status"]>>;
}

/** Takes over what other programs have stored for the addresses of configured servers. Shows no token. */
export async function importSignIns(
  { terminal, values }: CommandInput,
  session: McpSession,
  server: string | undefined,
): Promise<number> {
  const programs = programsOf(textOption(values, "from"));
  const options = { programs, force: values.force === true, dryRun: values["dry-run"] === true };
  const names =
    server === undefined ? session.servers.filter((config) => maySignIn(config)).map(({ name }) => name) : [server];
  const rows: Row[] = [];
  let failures = 0;
  for (const name of names) {
    try {
      const door = session.signIn(name);
      const adoption = await door.adopt(options);
      rows.push({ server: name, adoption, status: await door.status() });
    } catch (error) {
      if (server !== undefined) throw error;
      failures++;
      console.error(`pi-mcp: ${messageOf(error)}`);
    }
  }
  const changed = rows.filter(({ adoption }) => adoption.state === "imported" || adoption.state === "found");
  if (terminal.json) terminal.write(`${JSON.stringify({ servers: rows.map(asJson) })}\n`);
  else {
    const shown = server === undefined ? rows.filter(({ adoption }) => adoption.state !== "absent") : rows;
    for (const row of shown) terminal.write(`${sanitizeLine(row.server, 100)}  ${words(row)}\n`);
    if (shown.length === 0) terminal.write("No other program has a sign-in to one of the configured servers.\n");
    if (changed.length > 0) terminal.write(SHARED);
  }
  if (failures > 0) return EXIT_OF_CATEGORY.other;
  const isWanting = server !== undefined && rows.some(({ adoption: { state } }) => WANTING.has(state));
  return isWanting ? EXIT_OF_CATEGORY["needs-auth"] : EXIT.ok;
}

const WANTING: ReadonlySet<Adoption["state"]> = new Set(["absent", "ambiguous"]);

/** Where a refresh token is good once, only one program can have the next one. */
const SHARED =
  "Whoever renews a shared sign-in first may sign the other program out of it: use it in one of them from now on.\n";

function programsOf(from: string | undefined): readonly ForeignProgram[] {
  if (from === undefined) return FOREIGN_PROGRAMS;
  const program = FOREIGN_PROGRAMS.find((each) => each === from);
  if (program === undefined) throw new UsageError(`--from is one of ${FOREIGN_PROGRAMS.join(", ")}`);
  return [program];
}

function words({ adoption, status }: Row): string {
  switch (adoption.state) {
    case "absent":
      return "no other program has a sign-in to this address";
    case "ambiguous": {
      const names = adoption.names.map((name) => sanitizeLine(name, 60) || "(no name)").join(", ");
      return `not imported: there are several sign-ins to this address, under other names (${names})`;
    }
    case "same":
      return `the sign-in of ${adoption.from} is the one in use already`;
    case "kept":
      return `kept as it is: the sign-in here is newer than that of ${adoption.from}, or may be (--force takes that one)`;
    case "found":
      return `would be imported from ${adoption.from}`;
    case "imported":
      return `imported from ${adoption.from}${status.renewable ? ", renewed by itself" : ""}`;
  }
}

function asJson({ server, adoption }: Row): object {
  return { server, ...adoption };
}
