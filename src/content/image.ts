/** An image a model provider accepts, or why this is none. */
export type CheckedImage =
  | { readonly ok: true; readonly data: string; readonly mimeType: string }
  | { readonly ok: false; readonly reason: string };

/** What the bytes of an image begin with, in the formats all providers take. */
const SIGNATURES: readonly { readonly mimeType: string; readonly matches: (head: Buffer) => boolean }[] = [
  { mimeType: "image/png", matches: (head) => head.subarray(0, 8).toString("latin1") === "\x89PNG\r\n\x1a\n" },
  { mimeType: "image/jpeg", matches: (head) => head.subarray(0, 3).toString("latin1") === "\xff\xd8\xff" },
  { mimeType: "image/gif", matches: (head) => /^GIF8[79]a/.test(head.toString("latin1")) },
  { mimeType: "image/webp", matches: (head) => /^RIFF.{4}WEBP/s.test(head.toString("latin1")) },
];

/** As many bytes as the longest of these, and a multiple of three, since four characters stand for three bytes. */
const HEAD_BYTES = 12;

/**
 * Checks an image of a tool result before it becomes part of a conversation: a provider refuses a broken image, or one
 * whose type is not what its bytes say, and would refuse every later turn with it. The type is taken from the bytes; a
 * `data:` prefix, white space and the URL-safe alphabet are mended; anything but PNG, JPEG, GIF and WebP is refused.
 */
export function checkImage(data: string): CheckedImage {
  const base64 = data
    .replace(/^\s*data:[^,]{0,200},/, "")
    .replace(/\s+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/=+$/, "");
  if (base64 === "") return { ok: false, reason: "it is empty" };
  if (!/^[A-Za-z0-9+/]*$/.test(base64) || base64.length % 4 === 1)
    return { ok: false, reason: "its data is not base64" };
  const head = Buffer.from(base64.slice(0, (HEAD_BYTES / 3) * 4), "base64");
  const mimeType = SIGNATURES.find(({ matches }) => matches(head))?.mimeType;
  if (mimeType === undefined) return { ok: false, reason: "it is not a PNG, JPEG, GIF or WebP image" };
  return { ok: true, data: base64.padEnd(Math.ceil(base64.length / 4) * 4, "="), mimeType };
}
