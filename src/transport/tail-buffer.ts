/** Keeps the last bytes of a stream: a server may write gigabytes to stderr, its last words matter. */
export class TailBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    // Joined now and then rather than at each chunk, so a flood costs linear time.
    if (this.#size > 2 * this.#maxBytes) this.#compact();
  }

  /** The tail; a character cut at its start is left out. */
  toString(): string {
    this.#compact();
    const bytes = this.#parts[0] ?? Buffer.alloc(0);
    let start = 0;
    while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return bytes.toString("utf8", start);
  }

  #compact(): void {
    const joined = Buffer.concat(this.#parts);
    const tail = joined.length > this.#maxBytes ? Buffer.from(joined.subarray(-this.#maxBytes)) : joined;
    this.#parts = [tail];
    this.#size = tail.length;
  }
}
