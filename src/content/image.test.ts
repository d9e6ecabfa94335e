import { describe, expect, it } from "vitest";
import { checkImage } from "./image.ts";

const BYTES: Record<string, string> = {
  "image/png": "\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
  "image/jpeg": "\xff\xd8\xff\xe0\0\x10JFIF\0",
  "image/gif": "GIF89a\x01\0\x01\0",
  "image/webp": "RIFF\x24\0\0\0WEBPVP8 ",
};

function base64(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("base64");
}

describe("checkImage", () => {
  for (const [mimeType, bytes] of Object.entries(BYTES)) {
    it(`knows ${mimeType} by its bytes`, () => {
      expect(checkImage(base64(bytes))).toEqual({ ok: true, data: base64(bytes), mimeType });
    });
  }

  it("mends a data address, line breaks, missing padding and the other alphabet", () => {
    const data = base64(`${BYTES["image/png"]}\xfb\xff\xfe\xff`);
    const written = data.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "").replace(/.{8}/g, "$&\r\n");
    expect(written).toMatch(/[-_]/);
    expect(checkImage(`data:image/png;base64,${written}`)).toEqual({ ok: true, data, mimeType: "image/png" });
  });

  it("refuses what a model provider would refuse", () => {
    expect(checkImage("")).toEqual({ ok: false, reason: "it is empty" });
    expect(checkImage("====")).toEqual({ ok: false, reason: "it is empty" });
    expect(checkImage("not base64!")).toEqual({ ok: false, reason: "its data is not base64" });
    expect(checkImage("abcde")).toEqual({ ok: false, reason: "its data is not base64" });
    const reason = "it is not a PNG, JPEG, GIF or WebP image";
    expect(checkImage(base64("<svg xmlns='http://www.w3.org/2000/svg'/>"))).toEqual({ ok: false, reason });
    expect(checkImage(base64("\x01\x02\x03\x04"))).toEqual({ ok: false, reason });
    expect(checkImage(base64("RIFF\x24\0\0\0WAVEfmt "))).toEqual({ ok: false, reason });
  });
});
