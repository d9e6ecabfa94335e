import { describe, expect, it } from "vitest";
import { gif, jpeg, png, webp } from "./image.fixture.ts";
import { imageFault, imageType } from "./image.ts";

type Maker = (width: number, height: number) => Buffer;

const MAKERS: readonly (readonly [string, Maker])[] = [
  ["image/png", (width, height) => changedSize(png(2, 3), width, height)],
  ["image/jpeg", jpeg],
  ["image/gif", gif],
  ["image/webp", (width, height) => webp("VP8 ", width, height)],
  ["image/webp", (width, height) => webp("VP8L", width, height)],
  ["image/webp", (width, height) => webp("VP8X", width, height)],
];

/** The file is not valid any more, but it says how large it is. */
function changedSize(bytes: Buffer, width: number, height: number): Buffer {
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

describe.each(MAKERS)("%s", (mimeType, make) => {
  it("is known by its bytes", () => {
    expect(imageType(make(40, 30))).toBe(mimeType);
    expect(imageFault(make(8000, 8000))).toBeUndefined();
  });

  it("is not to be shown when a side is too long", () => {
    expect(imageFault(make(8001, 30))).toBe("it measures 8001 by 30 pixels, more than 8000 on a side");
    expect(imageFault(make(40, 12000))).toBe("it measures 40 by 12000 pixels, more than 8000 on a side");
  });

  it("[E164] is damaged when it ends before its size", () => {
    const whole = make(40, 30);
    const needed = [...whole.keys()].find((length) => imageFault(whole.subarray(0, length)) === undefined) ?? 0;
    expect(needed).toBeGreaterThan(9);
    for (let length = 12; length < needed; length++) {
      expect(imageFault(whole.subarray(0, length))).toBe("it is damaged");
    }
  });
});

it("[E164] bytes of another kind, and images of no size, are not to be shown", () => {
  expect(imageFault(gif(0, 5))).toBe("it is damaged");
  expect(imageFault(Buffer.from(`RIFF\x24\0\0\0WEBPXXXX${"\x01".repeat(30)}`, "latin1"))).toBe("it is damaged");
  expect(imageFault(Buffer.from(`\xff\xd8\xff\xe0\0\0${"\0".repeat(30)}`, "latin1"))).toBe("it is damaged");
  for (const bytes of ["", "\x01\x02\x03\x04", "<svg xmlns='http://www.w3.org/2000/svg'/>", "RIFF\x24\0\0\0WAVEfmt "]) {
    expect(imageType(Buffer.from(bytes, "latin1"))).toBeUndefined();
    expect(imageFault(Buffer.from(bytes, "latin1"))).toBe("it is not a PNG, JPEG, GIF or WebP image");
  }
});
