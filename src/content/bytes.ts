/**
 * The bytes of a base64 text; `undefined` if it is none. A `data:` prefix, white space, missing padding and the URL-safe
 * alphabet are mended.
 */
export function decodeBase64(data: string): Buffer | undefined {
  const plain = data.replace(/^(?:\s*data:[^,]{0,200},)+/, "").replace(/\s+/g, "");
  const padding = plain.search(/[^\w+/-]/);
  const length = padding === -1 ? plain.length : padding;
  if (length % 4 === 1 || !/^=*$/.test(plain.slice(length))) return undefined;
  return Buffer.from(plain, "base64");
}

/** A number of bytes for people and models: `12 KB`, counted in 1024. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${rounded(kilobytes)} KB` : `${rounded(kilobytes / 1024)} MB`;
}

function rounded(value: number): number {
  return value < 10 ? Math.round(value * 10) / 10 : Math.round(value);
}
