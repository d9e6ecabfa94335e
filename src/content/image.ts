interface Format {
  readonly mimeType: string;
  /** What a file of this format begins with, as Latin-1. */
  readonly signature: RegExp;
  /** Width and height; throws where the bytes end too early. */
  readonly size: (bytes: Buffer) => readonly [number, number];
}

/** The formats all model providers take. */
const FORMATS: readonly Format[] = [
  {
    mimeType: "image/png",
    signature: /^\x89PNG\r\n.\n/s,
    size: (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
  },
  { mimeType: "image/jpeg", signature: /^\xff\xd8\xff/, size: jpegSize },
  {
    mimeType: "image/gif",
    signature: /^GIF8[79]a/,
    size: (bytes) => [bytes.readUInt16LE(6), bytes.readUInt16LE(8)],
  },
  { mimeType: "image/webp", signature: /^RIFF.{4}WEBP/s, size: webpSize },
];

/** As many bytes as the longest signature. */
const SIGNATURE_BYTES = 12;

/** The longest side that every provider takes, pixels. */
const MAX_SIDE = 8_000;

/** The type of an image by its bytes, whatever it is said to be; `undefined` for a format that not all providers take. */
export function imageType(bytes: Buffer): string | undefined {
  return formatOf(bytes)?.mimeType;
}

/**
 * Why a model provider would refuse this image; `undefined` if there is no reason to think so. To be known before it
 * becomes part of a conversation, since the provider would refuse every later turn as well.
 */
export function imageFault(bytes: Buffer): string | undefined {
  const format = formatOf(bytes);
  if (format === undefined) return "it is not a PNG, JPEG, GIF or WebP image";
  try {
    const [width, height] = format.size(bytes);
    if (width === 0 || height === 0) return "it is damaged";
    return Math.max(width, height) > MAX_SIDE
      ? `it measures ${width} by ${height} pixels, more than ${MAX_SIDE} on a side`
      : undefined;
  } catch {
    return "it is damaged";
  }
}

function formatOf(bytes: Buffer): Format | undefined {
  const head = bytes.toString("latin1", 0, SIGNATURE_BYTES);
  return FORMATS.find(({ signature }) => signature.test(head));
}

/** From the frame header, behind any number of other segments (ITU-T T.81, annex B). */
function jpegSize(bytes: Buffer): readonly [number, number] {
  let at = 2;
  for (;;) {
    const marker = bytes.readUInt16BE(at);
    if (isFrameHeader(marker)) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    if (marker === 0xffff) at += 1;
    else if (marker > 0xffbf && marker !== 0xffd9) at += 2 + bytes.readUInt16BE(at + 2);
    else throw new RangeError("no frame header");
  }
}

/** SOF0 to SOF15, among which three markers mean something else. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xffc0 && marker <= 0xffcf && marker !== 0xffc4 && marker !== 0xffc8 && marker !== 0xffcc;
}

/** Lossy, lossless and extended files have it in different places (RFC 9649, section 2). */
function webpSize(bytes: Buffer): readonly [number, number] {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      throw new RangeError("no known chunk");
  }
}
