import { basename } from "node:path";

/** How a program writes a variable: `${env:X}`, `${X}`, `${X:-text}`, `$env:X`, `{env:X}`, `$X`. */
export type VariableForm = "env" | "braced" | "fallback" | "shell" | "inner" | "bare";

/** What a text needs that cannot be told by looking at it. */
export interface Note {
  readonly text: string;
  /** Whether the server cannot work, or would do something else than it did, until a person has seen to it. */
  readonly blocks: boolean;
}

/** What editors fill in beside variables. */
export interface EditorPlace {
  readonly platform: NodeJS.Platform;
  /** The folder a project's file is for; any folder that is open where it is absent. */
  readonly folder?: string;
  /** Whether the server runs in another folder than the one that is open. */
  readonly isElsewhere?: boolean;
}

/** A value an editor asks for, `${input:id}`. */
export interface EditorInput {
  readonly description?: string;
  readonly fallback?: string;
}

/** What a program fills in, in its own spelling. */
export interface Dialect {
  readonly forms: readonly VariableForm[];
  /** Whether all else is known to be text there: then what would be a variable here is escaped. */
  readonly isStrict: boolean;
  readonly editor?: EditorPlace;
  readonly inputs?: ReadonlyMap<string, EditorInput>;
  /** Whether it puts the content of a file in place of `${file:…}` or `{file:…}`. */
  readonly hasFiles?: boolean;
}

const NAME = "[A-Za-z_]\\w*";

/** In this order: `$env` is the start of `$env:X`. */
const FORMS: readonly (readonly [VariableForm, RegExp])[] = [
  ["env", new RegExp(String.raw`\$\{env:(${NAME})\}`, "y")],
  ["fallback", new RegExp(String.raw`\$\{(${NAME})(:-[^{}]*)\}`, "y")],
  ["braced", new RegExp(String.raw`\$\{(${NAME})\}`, "y")],
  ["shell", new RegExp(String.raw`\$env:(${NAME})`, "y")],
  ["inner", new RegExp(String.raw`\{env:(${NAME})\}`, "y")],
  ["bare", new RegExp(String.raw`\$(${NAME})`, "y")],
];

const INPUT = /\$\{input:([^{}]+)\}/y;
const FILE = /\$?\{file:[^{}]*\}/y;
const EDITOR =
  /\$\{(userHome|workspaceFolder|workspaceRoot|workspaceFolderBasename|pathSeparator|\/|(?:cwd|file|relativeFile|lineNumber|columnNumber|selectedText|execPath|defaultBuildTask|extensionInstallFolder|config|command)\w*)(?::[^{}]*)?\}/y;

/** A text that means nothing but itself in our spelling, except this one, which has no escape. */
const INNER_TEXT = new RegExp(String.raw`\{env:${NAME}\}`, "y");

interface Piece {
  readonly length: number;
  /** In our spelling; or as text, still to be escaped. */
  readonly ours?: string;
  readonly text?: string;
}

/** A text of another program, in the spelling of an mcp.json. What cannot be spelled is noted and left as it is. */
export function spell(text: string, dialect: Dialect, notes: Note[]): string {
  if (!/[${]/.test(text)) return text;
  const pieces: Pick<Piece, "ours" | "text">[] = [];
  let plainFrom = 0;
  let at = 0;
  while (at < text.length) {
    const piece = text[at] === "$" || text[at] === "{" ? pieceAt(text, at, dialect, notes) : undefined;
    if (piece === undefined) {
      at++;
      continue;
    }
    pieces.push({ text: text.slice(plainFrom, at) }, piece);
    at += piece.length;
    plainFrom = at;
  }
  pieces.push({ text: text.slice(plainFrom) });
  // From the end, since whether a dollar sign has to be escaped depends on what comes behind it.
  return pieces
    .reverse()
    .reduce((rest, { ours, text: plain = "" }) => (ours ?? literal(plain, dialect, rest, notes)) + rest, "");
}

/** A text that is to come out as it stands. */
export function spellText(text: string): string {
  return escapeDollars(text, "");
}

function literal(text: string, dialect: Dialect, rest: string, notes: Note[]): string {
  if (!dialect.isStrict) return text;
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    INNER_TEXT.lastIndex = at;
    const written = INNER_TEXT.exec(text)?.[0];
    if (written !== undefined) {
      notes.push({ text: `${written} is only text there, and cannot be written as text here`, blocks: true });
    }
  }
  return escapeDollars(text, rest);
}

/** Where something could follow that makes a variable or an escape of it, a dollar sign is written twice. */
function escapeDollars(text: string, rest: string): string {
  let out = text;
  if (text.endsWith("$") && /^[$!{A-Za-z_]/.test(rest)) out += "$";
  // `$$5` is `$$$5`: each sign by itself, by the sign behind it.
  return out.slice(0, text.length).replace(/\$(?=[$!{A-Za-z_])/g, "$$$$") + out.slice(text.length);
}

function pieceAt(text: string, at: number, dialect: Dialect, notes: Note[]): Piece | undefined {
  for (const [form, pattern] of FORMS) {
    const match = dialect.forms.includes(form) ? matchAt(pattern, text, at) : undefined;
    if (match !== undefined) {
      return { length: match[0].length, ours: `\${${match[1]}${match[2] ?? ""}}` };
    }
  }
  if (dialect.hasFiles === true) {
    const file = matchAt(FILE, text, at);
    if (file !== undefined) {
      const why = `${file[0]} is the content of a file there, which is not read here; put the value into a variable`;
      return keep(file[0], why, notes);
    }
  }
  if (dialect.inputs !== undefined) {
    const input = matchAt(INPUT, text, at);
    if (input?.[1] !== undefined)
      return { length: input[0].length, ours: inputVariable(input[1], dialect.inputs, notes) };
  }
  const editor = dialect.editor && matchAt(EDITOR, text, at);
  return dialect.editor && editor ? editorPiece(editor, text, at, dialect.editor, notes) : undefined;
}

function editorPiece(
  match: RegExpExecArray,
  text: string,
  at: number,
  { platform, folder, isElsewhere = false }: EditorPlace,
  notes: Note[],
): Piece {
  const [written, name] = match;
  const length = written.length;
  switch (name) {
    case "userHome":
      return { length, ours: platform === "win32" ? "${USERPROFILE}" : "${HOME}" };
    case "pathSeparator":
    case "/":
      return { length, text: platform === "win32" ? "\\" : "/" };
    case "workspaceFolder":
    case "workspaceRoot":
      if (folder !== undefined) return { length, text: folder };
      // A server runs in the folder of the session, which is what is open.
      if (!isElsewhere && at === 0 && /^(?:$|[/\\])/.test(text.slice(length))) return { length, text: "." };
      break;
    case "workspaceFolderBasename":
      if (folder !== undefined) return { length, text: basename(folder) };
  }
  return keep(written, `${written} is not known here; write a path in its place`, notes);
}

function keep(written: string, why: string, notes: Note[]): Piece {
  notes.push({ text: why, blocks: true });
  return { length: written.length, text: written };
}

/** Names that are set for everybody, whatever an editor calls its question. */
const COMMON_VARIABLES = /^(?:PATH|HOME|USER|USERNAME|USERPROFILE|PWD|SHELL|LANG|TERM|TMP|TEMP|TMPDIR|NODE_OPTIONS)$/;

/** Nobody can be asked when a server starts: the value comes from a variable. */
function inputVariable(id: string, inputs: ReadonlyMap<string, EditorInput>, notes: Note[]): string {
  const plain = id.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
  const name = /^\d/.test(plain) ? `_${plain}` : COMMON_VARIABLES.test(plain) ? `INPUT_${plain}` : plain;
  const { description, fallback } = inputs.get(id) ?? {};
  if (fallback !== undefined && fallback !== "" && !/[{}]/.test(fallback)) {
    notes.push({ text: `takes the value of ${name} from the environment where it is set`, blocks: false });
    return `\${${name}:-${fallback}}`;
  }
  const what = description === undefined ? "" : ` (${JSON.stringify(description)})`;
  notes.push({ text: `asks for a value${what}: set the environment variable ${name}`, blocks: true });
  return `\${${name}}`;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
