import { formatBytes } from "../../content/bytes.ts";
import { formatDuration } from "../../content/duration.ts";
import { prettyJson } from "../../content/json.ts";
import { sanitizeText } from "../../content/sanitize.ts";
import { wrapToWidth } from "../../content/width.ts";
import { isObject } from "../../is-object.ts";
import type { Progress } from "../../protocol/types.ts";
import type { PiDrawnResult, PiTheme, PiToolRenderers } from "./api.ts";
import { component, paintLine, type Span } from "./render-line.ts";

/** Lines of arguments or of a result that are drawn when it is unfolded; a person who wants more has the file it names. */
const MAX_LINES = 1_000;

/** Of arguments that are drawn in one line; the rest is cut off anyway. */
const ARGS_CHARS = 1_000;

const BAR_COLUMNS = 20;

/** What is known of a call once it is over, passed from the drawing of its result to that of the call above it. */
interface Outcome {
  readonly isError: boolean;
  readonly durationMs: number | undefined;
  readonly size: string;
  /** As the engine found it; a selector is only what the model wrote. */
  readonly title: string | undefined;
}

/**
 * How calls of a tool are drawn: one line with server, tool, arguments, duration and size, and below it what went wrong, or
 * how far it is. Unfolded it has the arguments and the result in full. Images are drawn by pi itself.
 */
export function toolRenderers(
  tool: string,
  target?: { readonly server: string; readonly tool: string },
): PiToolRenderers {
  const direct = target && `${target.server}.${target.tool}`;
  return {
    renderCall(args, theme, { state, expanded }) {
      const call = readCall(tool, args, direct);
      return component((width) => {
        const outcome = state.outcome as Outcome | undefined;
        const title = outcome?.title ?? call.title;
        const head: Span[] = [
          { text: title, color: "toolTitle", isBold: true },
          ...(call.words === "" ? [] : [{ text: ` ${call.words}`, color: "accent", gives: true } as const]),
          ...(expanded || call.args === undefined
            ? []
            : [{ text: ` ${argumentsInLine(call.args)}`, color: "muted", gives: true } as const]),
          ...(outcome === undefined ? [] : outcomeSpans(outcome)),
        ];
        const lines = [paintLine(head, width, theme)];
        if (expanded && call.args !== undefined) {
          lines.push(...block(prettyJson(parsed(call.args)), width, theme, "muted"));
        }
        return lines;
      });
    },
    renderResult(result, { expanded, isPartial }, theme, { state }) {
      const details = isObject(result.details) ? result.details : {};
      if (isPartial) return component((width) => progressLines(details.progress, width, theme));
      const outcome = outcomeOf(tool, result, details);
      state.outcome = outcome;
      const text = textOf(result);
      return component((width) => {
        if (expanded) return block(text, width, theme, outcome.isError ? "error" : "toolOutput");
        return outcome.isError ? [paintLine([{ text: reasonIn(text), color: "error" }], width, theme)] : [];
      });
    },
  };
}

/** The rows of a resumed session whose servers are not connected yet: their tools are not known to pi. */
export function drawUnknown(tool: string, next: () => object | undefined): object | undefined {
  return next() ?? (tool.startsWith("mcp__") ? toolRenderers(tool) : undefined);
}

interface Call {
  readonly title: string;
  /** What is asked for, where that is no call of a server's tool. */
  readonly words: string;
  readonly args: unknown;
}

/** What the model wants, from arguments that may be of any form, or only begun. */
function readCall(tool: string, given: unknown, direct: string | undefined): Call {
  const fields = isObject(given) ? given : {};
  const word = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  const names = [word("server"), word("tool")].filter((name) => name !== "");
  if (direct !== undefined) return { title: direct, words: "", args: filled(given) };
  switch (tool) {
    case "mcp":
      if (word("action") === "call") return { title: names.join(".") || tool, words: "", args: filled(fields.args) };
      return {
        title: tool,
        words: [word("action"), ...names, quoted(word("query"))].join(" ").trim(),
        args: undefined,
      };
    case "mcp_call":
      return { title: word("selector") || names.join(".") || tool, words: "", args: filled(fields.args) };
    case "mcp_load":
      return { title: tool, words: [...names, quoted(word("query"))].join(" ").trim(), args: undefined };
    case "mcp_auth":
      // What completes a sign-in is nobody's to see.
      return { title: tool, words: [word("action"), word("server")].join(" ").trim(), args: undefined };
    default:
      return { title: tool, words: "", args: filled(given) };
  }
}

function filled(args: unknown): unknown {
  const isEmpty =
    args === undefined || args === null || args === "" || (isObject(args) && Object.keys(args).length === 0);
  return isEmpty ? undefined : args;
}

function quoted(text: string): string {
  return text === "" ? "" : JSON.stringify(text);
}

/** Models write arguments as a JSON text now and then. */
function parsed(args: unknown): unknown {
  if (typeof args !== "string") return args;
  try {
    return JSON.parse(args) as unknown;
  } catch {
    return args;
  }
}

function argumentsInLine(args: unknown): string {
  const value = parsed(args);
  if (!isObject(value)) return inLine(value);
  let line = "";
  for (const [name, each] of Object.entries(value)) {
    line += `${line === "" ? "" : ", "}${name}: ${inLine(each)}`;
    if (line.length > ARGS_CHARS) break;
  }
  return line;
}

function inLine(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, ARGS_CHARS)) : (JSON.stringify(value) ?? "");
}

function outcomeSpans({ isError, durationMs, size }: Outcome): Span[] {
  const took = durationMs === undefined ? "" : formatDuration(durationMs);
  if (isError) return [{ text: took === "" ? " · failed" : ` · failed after ${took}`, color: "error" }];
  const facts = [took, size].filter((fact) => fact !== "");
  return facts.length === 0 ? [] : [{ text: ` · ${facts.join(" · ")}`, color: "dim" }];
}

function outcomeOf(called: string, result: PiDrawnResult, details: Readonly<Record<string, unknown>>): Outcome {
  const { server, tool, durationMs, isError } = details;
  const images = (result.content ?? []).filter(({ type }) => type === "image").length;
  const bytes = Buffer.byteLength(textOf(result));
  const sizes = [
    ...(bytes > 0 || images === 0 ? [formatBytes(bytes)] : []),
    ...(images > 0 ? [images === 1 ? "1 image" : `${images} images`] : []),
    ...(details.truncated === true ? ["cut"] : []),
  ];
  const isCall = called === "mcp" ? details.action === "call" : called !== "mcp_load" && called !== "mcp_auth";
  const isNamed = isCall && typeof server === "string" && typeof tool === "string" && server !== "" && tool !== "";
  return {
    isError: isError === true,
    durationMs: typeof durationMs === "number" ? durationMs : undefined,
    size: sizes.join(", "),
    title: isNamed ? `${server}.${tool}` : undefined,
  };
}

function textOf({ content = [] }: PiDrawnResult): string {
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}

/** The line that says why: behind one that only announces it. */
function reasonIn(text: string): string {
  const [first = "", second = ""] = text.split("\n").filter((line) => line.trim() !== "");
  return first.endsWith(":") && second !== "" ? second : first;
}

/** A text in full, as far as anybody reads. */
function block(text: string, width: number, theme: PiTheme, color: "error" | "muted" | "toolOutput"): string[] {
  const lines = wrapToWidth(sanitizeText(text).trimEnd(), width);
  const more = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map((line) => (line === "" ? "" : theme.fg(color, line)));
  return more <= 0 ? shown : [...shown, paintLine([{ text: `… ${more} more lines`, color: "dim" }], width, theme)];
}

/** A bar where it is known how much there is to do, and what the server says of it. */
function progressLines(progress: unknown, width: number, theme: PiTheme): string[] {
  if (!isObject(progress)) return [];
  const { progress: done, total, message } = progress as Partial<Progress>;
  if (typeof done !== "number") return [];
  const isBounded = typeof total === "number" && total > 0;
  const part = isBounded ? Math.min(Math.max(done / total, 0), 1) : 0;
  const columns = Math.min(BAR_COLUMNS, width - 8);
  const filledColumns = Math.round(part * columns);
  const spans: Span[] = [
    ...(isBounded && columns >= 4
      ? [
          { text: "█".repeat(filledColumns), color: "accent" } as const,
          { text: "░".repeat(columns - filledColumns), color: "dim" } as const,
          { text: " " },
        ]
      : []),
    { text: isBounded ? `${Math.floor(part * 100)}%` : String(done), color: "muted" },
    ...(typeof message === "string" ? [{ text: ` ${message}`, color: "muted" } as const] : []),
  ];
  return [paintLine(spans, width, theme)];
}
