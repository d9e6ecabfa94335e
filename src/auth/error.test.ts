import { expect, test } from "vitest";
import { quoteWords } from "./error.ts";

test.each([
  ["the code planted-1 is over", ["planted-1"], "the code *** is over"],
  ["no such token: 7ce5a9d0b1f24e3c8a6d5b4c3a291807", [], "no such token: ***"],
  ["id_token_signed_response_alg must be 'ES256'", [], "id_token_signed_response_alg must be 'ES256'"],
  ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", [], "***"],
  ["a\n\u001b[31mred\u202e", [], "a [31mred"],
  [{ not: "words" }, [], ""],
])("what a peer says about an error is quoted without secrets: %j", (text, secrets, quoted) => {
  expect(quoteWords(text, secrets)).toBe(quoted);
});
