import { Type } from '@sinclair/typebox';
import { limits } from './limits.ts';
import { MemoryType } from './memory.ts';
import { Text } from './text.ts';

const max = limits.nameCharacters;

/**
 * The filters of a list or a search; several are combined with AND. In a query, metadata is written
 * `metadata[key]=value`: a string is compared with its text, a number or boolean with its JSON
 * text, an array with any of its elements.
 */
export const filterFields = {
  type: Type.Optional(MemoryType),
  source: Type.Optional(Text({ max, description: 'The system that the record came from.' })),
  externalId: Type.Optional(Text({ max, description: 'Its id in that system.' })),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'Top-level keys of the metadata, as `metadata[key]=value`. A string is compared with its ' +
        'text, a number or boolean with its JSON text, an array with any of its elements.',
      examples: [{ source: 'chat' }],
    }),
  ),
};

/** The same, as a program writes it. */
export type FilterFields = {
  type?: MemoryType;
  source?: string;
  externalId?: string;
  metadata?: Record<string, string | number | boolean>;
};
