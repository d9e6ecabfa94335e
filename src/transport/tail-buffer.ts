/** Keeps the last bytes of a stream: a server may write gigabytes to stderr, its last words matter. */
export class TailBuffer {
  readonly #maxBytes: number;
  /** A ring, made with the first byte: most servers write little or nothing. */
  #ring: Buffer | undefined;
  /** All bytes ever pushed; its remainder is the place of the next one. */
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#ring ??= Buffer.alloc(this.#maxBytes);
    const ring = this.#ring;
    this.#total += chunk.length;
    const kept = chunk.subarray(-ring.length);
    const end = this.#total % ring.length;
    const start = (this.#total - kept.length) % ring.length;
    const first = kept.copy(ring, start);
    if (first < kept.length) kept.copy(ring, 0, first, first + end);
  }

  /** The tail; a character cut at its start is left out. */
  toString(): string {
    if (!this.#ring) return "";
    const end = this.#total % this.#maxBytes;
    const bytes =
      this.#total <= this.#maxBytes
        ? this.#ring.subarray(0, this.#total)
        : Buffer.concat([this.#ring.subarray(end), this.#ring.subarray(0, end)]);
    let start = 0;
    while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return bytes.toString("utf8", start);
  }
}
