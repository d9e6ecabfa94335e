/** What has a meaning of its own for a shell when it stands outside of quotes. */
const SHELL = { posix: /[|&;<>()$`\\*?[\]{}~#!\r\n]/, windows: /[|&;<>()^%*?'~!\r\n]/ };

/** And within double quotes. Within single ones nothing has. */
const QUOTED = { posix: /[$`\\]/, windows: /[%^!\\\r\n]/ };

const WORD = { posix: /'([^']*)'|"([^"]*)"|([^ \t'"]+)/y, windows: /(?!)()|"([^"]*)"|([^ \t"]+)/y };

/**
 * The words of a command line that is nothing but words and quotes; `undefined` when it takes a shell to read it. A line
 * with `NAME=value` before its program is one of those.
 */
export function splitWords(line: string, system: "posix" | "windows"): string[] | undefined {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (isBlank(line[at])) {
      at++;
      continue;
    }
    let word = "";
    for (;;) {
      const pattern = WORD[system];
      pattern.lastIndex = at;
      const match = pattern.exec(line);
      if (match === null) break;
      const [, single, double, bare] = match;
      if ((double !== undefined && QUOTED[system].test(double)) || (bare !== undefined && SHELL[system].test(bare))) {
        return undefined;
      }
      word += single ?? double ?? bare ?? "";
      at = pattern.lastIndex;
    }
    // A quote that is not closed is for the shell to complain of.
    if (at < line.length && !isBlank(line[at])) return undefined;
    words.push(word);
  }
  return words[0] === undefined || words[0] === "" || words[0].includes("=") ? undefined : words;
}

/** A line end is more than that to a shell, and other kinds of space are letters to it. */
function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}
