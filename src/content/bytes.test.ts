import { describe, expect, it } from "vitest";
import { decodeBase64, formatBytes } from "./bytes.ts";

describe("decodeBase64", () => {
  const bytes = Buffer.from([0xfb, 0xff, 0xfe, 0xff, 0, 1, 2]);
  const data = bytes.toString("base64");

  it("reads base64", () => {
    expect(decodeBase64(data)).toEqual(bytes);
    expect(decodeBase64("")).toEqual(Buffer.alloc(0));
    expect(decodeBase64("====")).toEqual(Buffer.alloc(0));
  });

  it("[E166] mends data addresses, line breaks, missing padding and the other alphabet", () => {
    const written = data.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "").replace(/.{4}/g, "$&\r\n");
    expect(written).toMatch(/[-_]/);
    for (const prefix of ["", "data:image/png;base64,", " data:image/png;base64,data:image/png;base64,"]) {
      expect(decodeBase64(prefix + written)).toEqual(bytes);
    }
  });

  it("knows what is no base64", () => {
    for (const wrong of ["not base64!", "abcde", "ab=c", "é", `${data}\0`, "=".repeat(1_000_000).concat("x")]) {
      expect(decodeBase64(wrong)).toBeUndefined();
    }
  });
});

describe("formatBytes", () => {
  it.each([
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [1024, "1 KB"],
    [1600, "1.6 KB"],
    [12_300, "12 KB"],
    [1024 * 1024, "1 MB"],
    [3.75 * 1024 * 1024, "3.8 MB"],
    [100 * 1024 * 1024, "100 MB"],
  ])("says %i as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
