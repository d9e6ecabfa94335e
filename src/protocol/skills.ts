import { createHash } from "node:crypto";
import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import { decodeContents } from "./decode/resource.ts";
import { ProtocolError } from "./errors.ts";
import type { ExchangeRequest } from "./exchange.ts";
import type { Decoded } from "./list.ts";
import type { JsonObject, Skill, SkillFile } from "./types.ts";

/** SEP-2640: instructions and files a server offers as a skill. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

const SKILL_FILE = "SKILL.md";
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1_024;
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;
/** A query, a fragment, or a step up. */
const LEADS_OUT = /[?#]|\/\.\.?(\/|$)/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * One entry of `skills/list`. Unlike a tool, a skill that is not quite right is left out: what a person approved is its
 * entry, and an entry that can be read in two ways approves nothing.
 */
export function decodeSkill(value: unknown): Decoded<Skill> {
  const entry = isObject(value) ? value : {};
  const uri = stringOf(entry.uri) ?? "";
  const frontmatter = isObject(entry.frontmatter) ? entry.frontmatter : {};
  const { name, description } = frontmatter;
  const problem = problemOf(uri, name, description);
  if (problem !== undefined) return { notice: `the skill ${JSON.stringify(uri)} was left out: ${problem}` };
  const skill = { uri, name: String(name), description: String(description), frontmatter };
  if (entry.resources === "dynamic") return { item: { ...skill, files: "dynamic" } };
  const files = filesOf(entry.resources, uri);
  if (typeof files === "string") return { notice: `the skill ${JSON.stringify(uri)} was left out: ${files}` };
  return { item: { ...skill, files } };
}

function problemOf(uri: string, name: unknown, description: unknown): string | undefined {
  if (typeof name !== "string" || !NAME.test(name) || name.length > MAX_NAME_CHARS) return "it has no proper name";
  if (typeof description !== "string" || description === "" || description.length > MAX_DESCRIPTION_CHARS) {
    return "it has no proper description";
  }
  return uri.endsWith(`/${name}/${SKILL_FILE}`) ? undefined : `its address does not end in ${name}/${SKILL_FILE}`;
}

function filesOf(value: unknown, skillUri: string): SkillFile[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_FILES) return "it lists no files, or too many";
  const folder = skillUri.slice(0, -SKILL_FILE.length);
  const files = new Map<string, SkillFile>();
  for (const item of value) {
    const { uri, digest, size } = isObject(item) ? item : {};
    const inside = typeof uri === "string" && uri.startsWith(folder) && !LEADS_OUT.test(uri);
    if (!inside || files.has(uri)) return "one of its files is outside its folder, or listed twice";
    if (typeof digest !== "string" || !DIGEST.test(digest) || !Number.isInteger(size) || Number(size) < 0) {
      return "one of its files has no proper digest or size";
    }
    files.set(uri, { uri, digest, size: Number(size) });
  }
  if (!files.has(skillUri)) return `it does not list its own ${SKILL_FILE}`;
  const total = [...files.values()].reduce((sum, file) => sum + file.size, 0);
  return total > MAX_BYTES ? `its files are ${total} bytes, more than ${MAX_BYTES}` : [...files.values()];
}

/** Of two entries for one address neither can be trusted to be the approved one. */
export function withoutDoubles(skills: readonly Skill[]): { items: Skill[]; notices: string[] } {
  const times = new Map<string, number>();
  for (const { uri } of skills) times.set(uri, (times.get(uri) ?? 0) + 1);
  const doubled = [...times].filter(([, count]) => count > 1).map(([uri]) => uri);
  return {
    items: skills.filter(({ uri }) => times.get(uri) === 1),
    notices: doubled.map((uri) => `the skill ${JSON.stringify(uri)} is listed twice and was left out`),
  };
}

/**
 * Reads one file of a skill and holds it against the skill's entry: size, digest, and for the skill itself the front
 * matter. Nothing is read before somebody asks. Rejects with ProtocolError when the file is not the one that was listed.
 */
export async function readSkillFile(
  request: (method: string, params: JsonObject, options: ExchangeRequest) => Promise<JsonObject>,
  skill: Skill,
  uri: string,
  options: ExchangeRequest,
): Promise<Buffer> {
  const listed = skill.files === "dynamic" ? undefined : skill.files.find((file) => file.uri === uri);
  const named = JSON.stringify(uri);
  const isInside = uri.startsWith(skill.uri.slice(0, -SKILL_FILE.length)) && !LEADS_OUT.test(uri);
  if (skill.files === "dynamic" ? !isInside : !listed)
    throw new ProtocolError(`${named} is no file of the skill ${skill.name}`);
  const [contents] = decodeContents(await request("resources/read", { uri }, options), uri);
  if (contents?.text === undefined && contents?.blob === undefined) throw new ProtocolError(`${named} has no content`);
  const bytes = Buffer.from(contents.text ?? contents.blob ?? "", contents.text === undefined ? "base64" : "utf8");
  if (bytes.length > MAX_BYTES) throw new ProtocolError(`${named} is larger than ${MAX_BYTES} bytes`);
  if (listed) {
    if (bytes.length !== listed.size) throw new ProtocolError(`${named} is ${bytes.length} bytes, not ${listed.size}`);
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (digest !== listed.digest) throw new ProtocolError(`the content of ${named} is not the one that was listed`);
  }
  if (uri === skill.uri) await checkFrontMatter(bytes.toString("utf8"), skill);
  return bytes;
}

async function checkFrontMatter(text: string, skill: Skill): Promise<void> {
  const [{ parse }, { isDeepStrictEqual }] = await Promise.all([import("yaml"), import("node:util")]);
  const block = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  let matter: unknown;
  try {
    matter = block === undefined ? undefined : parse(block, { schema: "core", maxAliasCount: 0 });
  } catch {
    matter = undefined;
  }
  // Through JSON and back, so that both sides are of the same making.
  if (isObject(matter) && isDeepStrictEqual(JSON.parse(JSON.stringify(matter)), skill.frontmatter)) return;
  throw new ProtocolError(`the front matter of ${JSON.stringify(skill.uri)} is not the one that was listed`);
}
