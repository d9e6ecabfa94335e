import { createHash } from "node:crypto";
import { sanitizeText } from "./sanitize.ts";

/** Types whose usual extension is not the second half of their name. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "application/epub+zip": "epub",
    "application/gzip": "gz",
    "application/javascript": "js",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/vnd.wave": "wav",
    "audio/wave": "wav",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "image/vnd.microsoft.icon": "ico",
    "text/javascript": "js",
    "text/markdown": "md",
    "text/plain": "txt",
    "video/matroska": "mkv",
    "video/quicktime": "mov",
  }),
);

/** With four bytes for each at most, the name stays below the 255 bytes that file systems take. */
const MAX_STEM_CHARS = 48;

/** Of a longer name the rest is not looked at. */
const MAX_SOURCE_CHARS = 2_000;

/**
 * A name for a file that is made of what a server says: the last part of an address or of a tool's name, with letters,
 * digits and `. _ -` alone. The number before it makes it unique, and neither hidden, an option, nor a device of Windows.
 * The extension is that of the MIME type; of an unknown type, that of the address.
 */
export function fileName(serial: number, source: string, mimeType = ""): string {
  const [, stem = "", ending = "bin"] = /^(.*?)(?:\.([A-Za-z0-9]{1,10}))?$/s.exec(cleaned(lastSegment(source))) ?? [];
  const short = [...stem].slice(0, MAX_STEM_CHARS).join("");
  return `${serial}-${short.replace(/^[._-]+|[._-]+$/g, "") || "result"}.${extensionOf(mimeType) ?? ending}`;
}

/** What Windows takes for a device, whatever its extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name for a file that is made of a name a person gave: the same one, where it consists of letters, digits and `. _ -` and
 * is of use everywhere; else what can be kept of it, and a part that no other name has.
 */
export function fileStem(name: string): string {
  const short = [...cleaned(name.slice(0, MAX_SOURCE_CHARS))].slice(0, MAX_STEM_CHARS).join("");
  const stem = short.replace(/^[._-]+|[._-]+$/g, "");
  if (stem !== "" && stem === name && !DEVICE.test(stem)) return stem;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return stem === "" ? `server-${hash}` : `${stem.replace(DEVICE, "_$&")}-${hash}`;
}

function lastSegment(source: string): string {
  const [path = ""] = source.slice(0, MAX_SOURCE_CHARS).split(/[?#]/, 1);
  const segment = path
    .replace(/^[a-z][a-z0-9+.-]*:/i, "")
    .split(/[/\\]/)
    .findLast((part) => part !== "");
  try {
    return decodeURIComponent(segment ?? "");
  } catch {
    // A lone percent sign: no address, or a wrong one.
    return segment ?? "";
  }
}

function cleaned(name: string): string {
  return sanitizeText(name.normalize("NFC")).replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_");
}

function extensionOf(mimeType: string): string | undefined {
  const [written = ""] = mimeType.toLowerCase().split(/[;\s]/, 1);
  const type = written.replace("/x-", "/");
  // `image/png` and `application/geo+json`, but no vendor's type and not `application/octet-stream`.
  const [, subtype] = /^[a-z]+\/(?:[a-z0-9.-]+\+)?([a-z0-9]{2,5})$/.exec(type) ?? [];
  return EXTENSIONS.get(type) ?? subtype ?? (type.startsWith("text/") ? "txt" : undefined);
}
