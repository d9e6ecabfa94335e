/** Lines around a change that are shown with it. */
const CONTEXT = 3;

/** A comparison of more pairs of lines than this takes too long to wait for; the whole middle then counts as changed. */
const MAX_PAIRS = 4_000_000;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** What differs between two texts, as `diff -u` shows it, without the names of the files; empty if nothing does. */
export function lineDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const lines = compare(linesOf(before), linesOf(after));
  const isShown = new Array<boolean>(lines.length).fill(false);
  for (const [index, { mark }] of lines.entries()) {
    if (mark !== " ") isShown.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  const shown: string[] = [];
  let old = 1;
  let now = 1;
  for (const [index, { mark, text }] of lines.entries()) {
    if (isShown[index] && !isShown[index - 1]) {
      const end = isShown.indexOf(false, index);
      const part = lines.slice(index, end === -1 ? undefined : end);
      const count = (other: string) => part.filter((line) => line.mark !== other).length;
      shown.push(`@@ -${range(old, count("+"))} +${range(now, count("-"))} @@`);
    }
    if (isShown[index]) shown.push(mark + text);
    if (mark !== "+") old++;
    if (mark !== "-") now++;
  }
  return shown;
}

function range(start: number, count: number): string {
  return `${count === 0 ? start - 1 : start},${count}`;
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ mark: " ", text }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): Line[] {
  const removed = before.map((text): Line => ({ mark: "-", text }));
  const added = after.map((text): Line => ({ mark: "+", text }));
  if (before.length * after.length > MAX_PAIRS || before.length === 0 || after.length === 0)
    return [...removed, ...added];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now) {
      lines.push({ mark: " ", text: old });
      i++;
      j++;
    } else if (old !== undefined && (now === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: "-", text: old });
      i++;
    } else {
      lines.push({ mark: "+", text: now ?? "" });
      j++;
    }
  }
  return lines;
}
