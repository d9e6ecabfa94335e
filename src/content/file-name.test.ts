import { basename, posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileName, fileStem } from "./file-name.ts";

describe("fileName", () => {
  it.each([
    ["file:///reports/2026/summary.pdf", "application/pdf", "7-summary.pdf"],
    ["https://host/a/b.tar.gz?token=x/y#z", "application/gzip", "7-b.tar.gz"],
    ["repo://caf%C3%A9%20menu.txt", "text/plain; charset=utf-8", "7-café_menu.txt"],
    ["C:\\temp\\photo.jpeg", "image/jpeg", "7-photo.jpg"],
    ["screenshot", "image/png", "7-screenshot.png"],
    ["speak", "audio/x-wav", "7-speak.wav"],
    ["file:///data.xlsx", "application/octet-stream", "7-data.xlsx"],
    ["file:///data", undefined, "7-data.bin"],
    ["file:///", "", "7-result.bin"],
    ["", "application/vnd.unknown.thing", "7-result.bin"],
    ["file:///100%.csv", "text/csv", "7-100.csv"],
    ["x.exe", "application/pdf", "7-x.pdf"],
    ["map", "application/geo+json", "7-map.json"],
    ["book", "application/epub+zip", "7-book.epub"],
    ["logo", "image/svg+xml", "7-logo.svg"],
    ["a", "text/x-very-special", "7-a.txt"],
    ["a", "text/html/../../b", "7-a.txt"],
    ["報告書.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "7-報告書.docx"],
  ])("names a file of %j, %j %s", (source, mimeType, name) => {
    expect(fileName(7, source, mimeType)).toBe(name);
  });

  it.each([
    ["file:///../../x%00\n.pdf", "7-x.pdf"],
    ["..", "7-result.pdf"],
    ["a/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "7-etc_passwd.pdf"],
    ["..\\..\\evil", "7-evil.pdf"],
    ["/etc/passwd", "7-passwd.pdf"],
    ["CON", "7-CON.pdf"],
    ["nul.txt", "7-nul.pdf"],
    ["a/x.txt:stream", "7-x.txt_stream.pdf"],
    ["-rf", "7-rf.pdf"],
    [".bashrc", "7-result.pdf"],
    ["name. . .", "7-name.pdf"],
    ["$(touch x)`id`", "7-touch_x_id.pdf"],
    ["\ud800", "7-result.pdf"],
  ])("[E178] makes of %j a name like any other", (source, name) => {
    expect(fileName(7, source, "application/pdf")).toBe(name);
  });

  it("[E178] is one short name of letters, digits and three signs, whatever a server says", () => {
    const hostile = fc.constantFrom("/", "\\", "..", "%2F", "\0", "\n", "é", "\u{20000}", ":", ".", " ", "COM1", "a");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(hostile, { maxLength: 300 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, text, (source, mimeType) => {
        const name = fileName(1000, source, mimeType);
        expect(name).toMatch(/^1000-[\p{L}\p{M}\p{N}._-]+\.[a-zA-Z0-9]+$/u);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect([basename(name), posix.basename(name), win32.basename(name)]).toEqual([name, name, name]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("fileStem", () => {
  it.each(["github", "My-Server_2.x", "GitHub", "café", "a"])("keeps %s", (name) => {
    expect(fileStem(name)).toBe(name);
  });

  it.each<[string, RegExp]>([
    ["a/b", /^a_b-[0-9a-f]{8}$/],
    ["../../etc/passwd", /^etc_passwd-[0-9a-f]{8}$|^_\.\._etc_passwd-[0-9a-f]{8}$/],
    ["..", /^server-[0-9a-f]{8}$/],
    [".hidden", /^hidden-[0-9a-f]{8}$/],
    ["-rf", /^rf-[0-9a-f]{8}$/],
    ["my server", /^my_server-[0-9a-f]{8}$/],
    ["CON", /^_CON-[0-9a-f]{8}$/],
    ["nul.x", /^_nul\.x-[0-9a-f]{8}$/],
    ["\u202e\u0000", /^server-[0-9a-f]{8}$|^_-/],
    ["x".repeat(300), /^x{48}-[0-9a-f]{8}$/],
  ])("makes of %j something that is of use everywhere", (name, expected) => {
    expect(fileStem(name)).toMatch(expected);
  });

  it("gives two names one file in no case", () => {
    const names = ["a b", "a_b", "a/b", "a:b", "a b ", "", " ", "."];
    expect(new Set(names.map(fileStem)).size).toBe(names.length);
  });

  it("is safe for every name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (name) => {
        const stem = fileStem(name);
        expect(stem).toMatch(/^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._-]*$/u);
        expect(basename(stem)).toBe(stem);
        expect(Buffer.byteLength(`${stem}.log.1`)).toBeLessThan(256);
      }),
    );
  });
});
