/** How much of a schema a model is shown: the smallest of the providers' documented limits, with room to spare. */

/** Objects and lists nested in one another; OpenAI's strict mode takes ten and counts in its own way. */
export const MAX_LEVELS = 8;
/** Schemas in all. OpenAI's strict mode takes 5,000 properties; no model reads as many. */
export const MAX_NODES = 1_200;
/** A schema inside itself is written out this often; then it is an object with nothing said of its fields. */
export const MAX_REPEATS = 2;
/** OpenAI's strict mode takes 1,000 values in all, and more than 250 in one enumeration only up to 15,000 characters. */
export const MAX_ENUM_VALUES = 250;
export const MAX_ALL_ENUM_VALUES = 900;
/** OpenAI's strict mode takes 120,000 characters of names and values. */
export const MAX_NAME_CHARS = 60_000;
export const MAX_DESCRIPTION_CHARS = 1_200;
export const MAX_ALL_DESCRIPTION_CHARS = 40_000;
/** Grammars of local servers are refused when they repeat something more often. */
export const MAX_REPEAT_COUNT = 1_000;
export const MAX_NOTE_CHARS = 400;
