/** Words that a rule would turn into the stem of another word. */
const AS_THEY_ARE: ReadonlySet<string> = new Set([
  "news",
  "status",
  "canvas",
  "alias",
  "bias",
  "atlas",
  "gas",
  "lens",
  "series",
  "species",
  "chaos",
]);

const VOWELS = "aeiou";

/** `y` is a vowel after a consonant. */
function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? "";
  if (VOWELS.includes(letter)) return false;
  return letter !== "y" || at === 0 || !isConsonant(word, at - 1);
}

/** How often a consonant follows a vowel in the first `end` letters: roughly its syllables. */
function measure(word: string, end: number): number {
  let count = 0;
  let vowel = false;
  for (let at = 0; at < end; at++) {
    const consonant = isConsonant(word, at);
    if (consonant && vowel) count++;
    vowel = !consonant;
  }
  return count;
}

function hasVowel(word: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (!isConsonant(word, at)) return true;
  return false;
}

function endsDouble(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && isConsonant(word, last);
}

/** Consonant, vowel, consonant, the last not w, x or y: `hop`, whose `e` in `hope` belongs to it. */
function endsShort(word: string, end = word.length): boolean {
  if (end < 3 || !isConsonant(word, end - 1) || isConsonant(word, end - 2) || !isConsonant(word, end - 3)) return false;
  return !"wxy".includes(word[end - 1] ?? "");
}

type Suffixes = readonly (readonly [suffix: string, instead: string])[];

/** Steps 2 and 3 of the algorithm, the longer suffix before the shorter that it ends with. */
const STEP_2: Suffixes = [
  ["ational", "ate"],
  ["ization", "ize"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["entli", "ent"],
  ["ousli", "ous"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["abli", "able"],
  ["alli", "al"],
  ["ator", "ate"],
  ["logi", "log"],
  ["eli", "e"],
];
const STEP_3: Suffixes = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];
const STEP_4 = "ement,ance,ence,able,ible,ment,ant,ent,ism,ate,iti,ous,ive,ize,ion,al,er,ic,ou".split(",");

function replaced(word: string, suffixes: Suffixes): string {
  for (const [suffix, instead] of suffixes) {
    if (!word.endsWith(suffix)) continue;
    const end = word.length - suffix.length;
    return measure(word, end) > 0 ? word.slice(0, end) + instead : word;
  }
  return word;
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") && !word.endsWith("us") ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith("eed")) return measure(word, word.length - 3) > 0 ? word.slice(0, -1) : word;
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  if (cut === 0 || !hasVowel(word, word.length - cut)) return word;
  const rest = word.slice(0, -cut);
  if (rest.endsWith("at") || rest.endsWith("bl") || rest.endsWith("iz")) return `${rest}e`;
  if (endsDouble(rest)) return "lsz".includes(rest.slice(-1)) ? rest : rest.slice(0, -1);
  return measure(rest, rest.length) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

function withoutDerivation(word: string): string {
  for (const suffix of STEP_4) {
    if (!word.endsWith(suffix)) continue;
    const end = word.length - suffix.length;
    if (measure(word, end) < 2) return word;
    return suffix === "ion" && !"st".includes(word[end - 1] ?? "-") ? word : word.slice(0, end);
  }
  return word;
}

function withoutLastE(word: string): string {
  if (!word.endsWith("e")) return word;
  const end = word.length - 1;
  const syllables = measure(word, end);
  return syllables > 1 || (syllables === 1 && !endsShort(word, end)) ? word.slice(0, end) : word;
}

function isAsciiLetters(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 97 || code > 122) return false;
  }
  return true;
}

/**
 * The stem of an English word in lower case, by M. F. Porter's algorithm ("An algorithm for suffix stripping", 1980) with
 * the later rule for `us` and a few words left alone. Any other word, in another script or with digits, is its own stem.
 */
export function stem(word: string): string {
  if (word.length < 3 || AS_THEY_ARE.has(word) || !isAsciiLetters(word)) return word;
  let result = withoutPast(withoutPlural(word));
  if (result.endsWith("y") && hasVowel(result, result.length - 1)) result = `${result.slice(0, -1)}i`;
  result = withoutDerivation(replaced(replaced(result, STEP_2), STEP_3));
  result = withoutLastE(result);
  return result.endsWith("ll") && measure(result, result.length) > 1 ? result.slice(0, -1) : result;
}
