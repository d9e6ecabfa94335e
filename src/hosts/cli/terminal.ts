/** Where a command writes its answer. */
export interface Terminal {
  readonly json: boolean;
  write(text: string): void;
}

export interface CommandOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}
