import { type Static, Type } from '@sinclair/typebox';
import { type FilterFields, filterFields } from './filter.ts';
import { limits } from './limits.ts';
import { exampleMemory, memoryFields, UserId } from './memory.ts';
import { Limit } from './page.ts';
import { OpenEnum, Text } from './text.ts';

export const SearchMode = Type.Union(
  [Type.Literal('auto'), Type.Literal('words'), Type.Literal('meaning')],
  {
    default: 'auto',
    description:
      'How memories are found: `auto` by words and by meaning, `words` by words alone, `meaning` ' +
      'by meaning alone.',
  },
);
export type SearchMode = Static<typeof SearchMode>;

/** The query of a search after parsing; on the wire, all values are text. */
export const SearchQuery = Type.Object(
  {
    userId: UserId,
    query: Text({
      max: limits.queryCharacters,
      description:
        'Words or a question, without operators. If the query contains a phrase in double ' +
        'quotes, memories that contain this phrase rank higher.',
      examples: ['dark mode'],
    }),
    limit: Limit('The maximum number of memories in the response.', {
      preset: limits.searchItemsDefault,
    }),
    mode: Type.Optional(SearchMode),
    explain: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether each memory in the response has the `parts` of its score.',
      }),
    ),
    ...filterFields,
  },
  { additionalProperties: false },
);
export type SearchQuery = {
  /** Optional with a key that is bound to a user. */
  userId?: string;
  /** Words or a question: 1 to 1,000 characters. */
  query: string;
  /** The maximum number of memories in the response: 1 to 100, default 10. */
  limit?: number | undefined;
  /** Whether memories are found by words, by meaning, or by both, which is the default. */
  mode?: SearchMode | undefined;
  /** Adds the `parts` of each score to the response. */
  explain?: boolean | undefined;
} & FilterFields;

const Point = Type.Integer({ minimum: 0 });

/** A part of a snippet, counted in code points: `[...snippet].slice(start, end)`. */
export const Highlight = Type.Object(
  { start: Point, end: Point },
  {
    title: 'Highlight',
    description:
      'A matched part of the snippet, as positions in code points: `start` is the first one, `end` ' +
      'the one after the last.',
    examples: [{ start: 8, end: 12 }],
  },
);
export type Highlight = Static<typeof Highlight>;

const matchers = ['words', 'meaning', 'both'] as const;
export type MatchedBy = (typeof matchers)[number];

const Part = (description: string) => Type.Number({ description });

/** The parts of a score. */
export const ScoreParts = Type.Object(
  {
    words: Part('From the words that the query and the memory share.'),
    phrase: Part('From words that stand together in both.'),
    date: Part(
      'What is added because the memory is of a day that the query is about, or is newer.',
    ),
    meaning: Part('From the similarity of the meanings.'),
  },
  {
    title: 'ScoreParts',
    description: 'What contributed to the score.',
    examples: [{ words: 0.412, phrase: 0.05, date: 0, meaning: 0.261 }],
  },
);
export type ScoreParts = Static<typeof ScoreParts>;

const exampleFound = {
  ...exampleMemory,
  score: 0.723,
  matchedBy: 'both',
  snippet: 'Prefers dark mode',
  highlights: [
    { start: 8, end: 12 },
    { start: 13, end: 17 },
  ],
};

/** A memory that matches, with the score and snippet of its best chunk. */
export const FoundMemory = Type.Object(
  {
    ...memoryFields,
    score: Type.Number({
      description: 'Higher is better. Scores are comparable only within one response.',
    }),
    matchedBy: OpenEnum(matchers, 'Whether the memory was found by words, by meaning, or by both.'),
    snippet: Type.String({
      description:
        'An excerpt from the best chunk: plain text on one line, with an ellipsis where it is cut.',
    }),
    highlights: Type.Array(Highlight, {
      description:
        'The matched words in the snippet, in order and without overlaps. There are none if the ' +
        'memory was found by meaning alone.',
    }),
    parts: Type.Optional(ScoreParts),
  },
  {
    title: 'FoundMemory',
    description: 'A memory that matches the query.',
    examples: [exampleFound],
  },
);
export type FoundMemory = Static<typeof FoundMemory>;

const meaningStates = ['used', 'partial', 'off', 'unavailable'] as const;

export const SearchAnswer = Type.Object(
  {
    items: Type.Array(FoundMemory),
    meaning: OpenEnum(
      meaningStates,
      'Whether the search compared meanings: of all memories (`used`); only of those that have ' +
        'been embedded so far (`partial`); not at all (`off`), because of the mode or the ' +
        'settings or because the model does not know the script of the query; or not at all ' +
        'because the model failed (`unavailable`).',
    ),
  },
  {
    title: 'SearchResults',
    description: 'The matching memories, best first.',
    examples: [{ items: [exampleFound], meaning: 'used' }],
  },
);
export type SearchAnswer = Static<typeof SearchAnswer>;
