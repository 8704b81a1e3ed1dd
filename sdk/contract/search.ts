import { type Static, Type } from '@sinclair/typebox';
import { type FilterFields, filterFields } from './filter.ts';
import { limits } from './limits.ts';
import { exampleMemory, memoryFields, UserId } from './memory.ts';
import { Limit } from './page.ts';
import { Text } from './text.ts';

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
    limit: Limit({
      max: limits.pageItems,
      default: limits.searchItemsDefault,
      description: 'The maximum number of memories in the response.',
    }),
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

const exampleFound = {
  ...exampleMemory,
  score: 4.21,
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
    snippet: Type.String({
      description:
        'An excerpt from the best chunk: plain text on one line, with an ellipsis where it is cut.',
    }),
    highlights: Type.Array(Highlight, {
      description: 'The matched parts of the snippet, in order and without overlaps.',
    }),
  },
  {
    title: 'FoundMemory',
    description: 'A memory that matches the query.',
    examples: [exampleFound],
  },
);
export type FoundMemory = Static<typeof FoundMemory>;

export const SearchAnswer = Type.Object(
  { items: Type.Array(FoundMemory) },
  {
    title: 'SearchResults',
    description: 'The matching memories, best first.',
    examples: [{ items: [exampleFound] }],
  },
);
export type SearchAnswer = Static<typeof SearchAnswer>;
