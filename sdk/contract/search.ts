import { type Static, Type } from '@sinclair/typebox';
import { type FilterFields, filterFields } from './filter.ts';
import { limits } from './limits.ts';
import { memoryFields, UserId } from './memory.ts';
import { Text } from './text.ts';

/** The query of a search, as parsed. On the wire every value is text. */
export const SearchQuery = Type.Object(
  {
    userId: UserId,
    query: Text({
      max: limits.queryCharacters,
      description:
        'Words or a question. Nothing in it is an operator; words in double quotes that stand ' +
        'together rank higher.',
    }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.pageItems,
        default: limits.searchItemsDefault,
        description: 'The most memories in the answer.',
      }),
    ),
    ...filterFields,
  },
  { additionalProperties: false },
);
export type SearchQuery = Omit<Static<typeof SearchQuery>, keyof FilterFields> & FilterFields;

/** A memory that was found, by its best passage. */
export const FoundMemory = Type.Object(
  {
    ...memoryFields,
    score: Type.Number({ description: 'Higher is better; only to be compared within one answer.' }),
    snippet: Type.String({
      description: 'The best passage, cut short, with the words that matched in «guillemets».',
    }),
  },
  { additionalProperties: false, description: 'A memory that was found.' },
);
export type FoundMemory = Static<typeof FoundMemory>;

export const SearchAnswer = Type.Object(
  { items: Type.Array(FoundMemory) },
  { additionalProperties: false, description: 'What was found, best first.' },
);
export type SearchAnswer = Static<typeof SearchAnswer>;
