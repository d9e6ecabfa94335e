/**
 * `npm run test:spec -- DIR`: holds the client against the specification's own files in DIR (`<revision>/schema.json`, and
 * `<revision>/examples/<type>/*.json` where a revision has them). Every example a client may receive goes through a
 * connection and must arrive whole; everything a client sends must be valid in the revision it is sent in.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RECEIVED, SENT, UNNAMED } from "./examples.ts";
import { losses } from "./loss.ts";
import type { Receive } from "./receive.ts";
import { RevisionSchema } from "./schema.ts";
import { type Recorded, recordNegotiation, recordSession } from "./session.ts";

/** What this client never sends, with the reason; and nothing else may be missing from its sessions. */
const NEVER_SENT: Readonly<Record<string, string>> = {
  "resources/subscribe": "nothing watches a single resource",
  "resources/unsubscribe": "nothing watches a single resource",
  "logging/setLevel": "a server's own level is taken as it is",
  "tasks/list": "a call's own task is the only one looked at",
  "notifications/progress": "no request of a server is reported on",
  "notifications/roots/list_changed": "the folders of a session do not change",
  "notifications/tasks/status": "no request of a server becomes a task",
};

const [folder] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) {
  console.error("Usage: npm run test:spec -- DIR, where DIR holds <revision>/schema.json");
  process.exit(1);
}
const revisions = readdirSync(folder).filter((name) => existsSync(join(folder, name, "schema.json")));
const problems: string[] = [];
let received = 0;
let validated = 0;

for (const revision of revisions) await receiveExamples(join(folder, revision, "examples"));
await validateSessions();

if (received === 0) problems.push("no example was found");
if (validated === 0) problems.push("no message was validated");
for (const problem of problems) console.log(`FAILED ${problem}`);
console.log(problems.length === 0 ? "Nothing is lost and every message is valid." : `${problems.length} problems.`);
// The connections of the examples are still open.
process.exit(problems.length === 0 ? 0 : 1);

async function receiveExamples(examples: string): Promise<void> {
  if (!existsSync(examples)) return;
  let sent = 0;
  const unnamed = new Map<string, number>();
  for (const type of readdirSync(examples)) {
    for (const file of readdirSync(join(examples, type))) {
      const receive = RECEIVED[type];
      if (SENT.has(type)) sent++;
      else if (receive === undefined) problems.push(`${type}: nobody knows whether a client receives it`);
      else {
        received++;
        const example = JSON.parse(readFileSync(join(examples, type, file), "utf8"));
        problems.push(...(await lossesOf(example, receive, unnamed)).map((loss) => `${type}/${file}: ${loss}`));
      }
    }
  }
  const kept = [...unnamed].map(([field, times]) => `${field} ${times} times (${UNNAMED[field]})`).join(", ");
  console.log(`${received + sent} examples: ${received} received, ${sent} are of what clients send`);
  console.log(`Without a name in our records: ${kept === "" ? "nothing" : kept}`);
  for (const field of Object.keys(UNNAMED)) {
    if (!unnamed.has(field)) problems.push(`${field} is on the list of unnamed fields and no example needs it there`);
  }
}

async function lossesOf(example: unknown, receive: Receive, unnamed: Map<string, number>): Promise<string[]> {
  try {
    const { expected, actual, raw } = await receive(example);
    return losses(expected, actual).flatMap((path) => {
      const field = path.split(".").findLast((part) => part in UNNAMED);
      if (field === undefined) return [`lost ${path || "all of it"}`];
      if (raw !== undefined && losses(expected, raw).includes(path)) return [`lost ${path}, also from the raw object`];
      unnamed.set(field, (unnamed.get(field) ?? 0) + 1);
      return [];
    });
  } catch (error) {
    return [`failed: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function validateSessions(): Promise<void> {
  const sessions: Recorded[] = [];
  for (const revision of revisions) sessions.push(await recordSession(revision));
  sessions.push(...(await recordNegotiation()));
  for (const revision of revisions) {
    const schema = new RevisionSchema(folder as string, revision);
    const sent = sessions.filter((session) => session.revision === revision).flatMap((session) => session.sent);
    validated += sent.length;
    const methods = new Set(sent.map(({ message }) => ("method" in message ? message.method : "a response")));
    console.log(`${revision}: ${sent.length} messages sent, of ${methods.size} kinds`);
    for (const each of sent) {
      const what = "method" in each.message ? each.message.method : `answer to ${each.answers}`;
      problems.push(...schema.problems(each).map((problem) => `${revision} ${what}: ${problem}`));
    }
    for (const method of schema.methods) {
      if (!methods.has(method) && !(method in NEVER_SENT))
        problems.push(`${revision}: the session never sends ${method}`);
    }
    for (const method of methods) {
      if (method in NEVER_SENT) problems.push(`${method} is sent and on the list of what never is`);
    }
  }
}
