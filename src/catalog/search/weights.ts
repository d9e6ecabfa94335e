import type { ServerTexts, ToolTexts } from "./fields.ts";

export interface FieldWeight {
  /** How much a word there counts. */
  readonly weight: number;
  /** How much a long text is held against its words, from 0 to 1 (BM25F's b). */
  readonly lengthShare: number;
  /** Words of a text of usual length. A constant, so that a tool's score does not depend on its neighbours' length. */
  readonly usualWords: number;
}

/** Every figure of the ranking. */
export interface SearchWeights {
  readonly fields: Readonly<Record<keyof ToolTexts, FieldWeight>>;
  readonly serverFields: Readonly<Record<keyof ServerTexts, FieldWeight>>;
  /** How soon more of the same word stops counting (BM25's k1). */
  readonly saturation: number;
  /** What a server's own texts say for each of its tools. */
  readonly server: number;
  /** A word that means as good as the same, for the word itself. */
  readonly same: number;
  /** A word often said for it. */
  readonly synonym: number;
  /** A longer word that begins with it, or a shorter one that it begins with. */
  readonly prefix: number;
  /** A word that a slip of the finger makes of it. */
  readonly typo: number;
  /** Two words side by side as in the query. */
  readonly phrase: number;
  /** Words that narrow nothing down. */
  readonly weak: number;
  /** More for the first words of a query, where the verb and its object stand. */
  readonly early: number;
  /** Words of a value given along: in quotes, of an address or a path. */
  readonly value: number;
  /** Words of something named as programs name it. */
  readonly identifier: number;
  /** The kind of file at the end of a path. */
  readonly extension: number;
  /** What a value says by being there: that of a path, that files are spoken of. */
  readonly implied: number;
  /** How much of a tool's name the query says, relative to the score. */
  readonly nameCoverage: number;
  /** Words of a tool's name that are its server's, beside the others. */
  readonly ownName: number;
  /** Taken off a tool that changes something when the query asks for something, or the other way round. */
  readonly intent: number;
  /** Words that no tool has are what is looked for: said for a tool that takes a free query. */
  readonly open: number;
  /** The best for one clause of a query, relative to the best of all. */
  readonly clause: number;
  /** Being of a kind with the best. */
  readonly kin: number;
  /** Taken off each tool of a server after its first few. */
  readonly crowd: number;
  /** Likewise, in a request for several things. */
  readonly crowdMany: number;
}

/**
 * Set by reasoning and then moved one by one on the development queries of `npm run bench:search`, whose cross-validation
 * shows how little hangs on any of them.
 */
export const WEIGHTS: SearchWeights = {
  fields: {
    name: { weight: 3, lengthShare: 0.3, usualWords: 3 },
    title: { weight: 1.5, lengthShare: 0.3, usualWords: 3 },
    lead: { weight: 1.5, lengthShare: 0.5, usualWords: 8 },
    parameters: { weight: 0.7, lengthShare: 0.5, usualWords: 5 },
    rest: { weight: 0.6, lengthShare: 0.6, usualWords: 25 },
    parameterDocs: { weight: 0.4, lengthShare: 0.5, usualWords: 25 },
    values: { weight: 0.4, lengthShare: 0.6, usualWords: 8 },
  },
  serverFields: {
    name: { weight: 1.5, lengthShare: 0.3, usualWords: 2 },
    title: { weight: 1.5, lengthShare: 0.3, usualWords: 2 },
    description: { weight: 0.7, lengthShare: 0.6, usualWords: 15 },
    instructions: { weight: 0.4, lengthShare: 0.6, usualWords: 60 },
  },
  saturation: 1.2,
  server: 1,
  same: 0.8,
  synonym: 0.5,
  prefix: 0.6,
  typo: 0.6,
  phrase: 0.25,
  weak: 0.5,
  early: 0.2,
  value: 0.12,
  identifier: 0.4,
  extension: 0.8,
  implied: 0.4,
  nameCoverage: 0.2,
  ownName: 0.2,
  intent: 0.13,
  open: 0.2,
  clause: 0.3,
  kin: 0.37,
  crowd: 0.1,
  crowdMany: 0.25,
};
