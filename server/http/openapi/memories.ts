import { Memory, SavedMemory, SaveRequest, UpdateRequest } from '../../../sdk/contract/memory.ts';
import { ListQuery, Page } from '../../../sdk/contract/page.ts';
import { SearchAnswer, SearchQuery } from '../../../sdk/contract/search.ts';
import { IngestStatus } from '../../../sdk/contract/status.ts';
import { DeleteAllQuery, Deleted } from '../../../sdk/contract/transfer.ts';
import type { Documentation } from './documentation.ts';
import * as examples from './examples.ts';

/** What is known of a user, piece by piece. */
export const memories = {
  save: {
    tag: 'Memories',
    summary: 'Save a memory',
    description: 'Stores a text for a user. It is `complete` at once.',
    request: { schema: SaveRequest, examples: { preference: examples.saveRequest } },
    answer: {
      description: 'The memory; `memoryId` is its `id`.',
      schema: SavedMemory,
      example: examples.savedMemory,
    },
    holdsText: true,
  },
  list: {
    tag: 'Memories',
    summary: 'List the memories of a user',
    description:
      'Newest first, unless `order` says otherwise. Pass `nextCursor` on as `cursor` until it is ' +
      'null: such a walk sees every memory that was there when it began exactly once. Several ' +
      'filters are AND.',
    query: {
      schema: ListQuery,
      example: { userId: 'u-1', limit: 20, order: 'desc', ...examples.filters },
    },
    answer: {
      description: 'One page; `nextCursor` is null at the end, and only there.',
      schema: Page,
      example: examples.page,
    },
  },
  search: {
    tag: 'Memories',
    summary: 'Search the memories of a user',
    description:
      'Best first, each memory by its best passage. The query is text: nothing in it is an ' +
      'operator. A memory is found from the moment its content was accepted as `complete`.',
    query: {
      schema: SearchQuery,
      example: { userId: 'u-1', query: 'dark mode', limit: 10, ...examples.filters },
    },
    answer: {
      description: 'What was found, best first; no items where nothing was.',
      schema: SearchAnswer,
      example: examples.searchAnswer,
    },
  },
  get: {
    tag: 'Memories',
    summary: 'Get a memory',
    description: 'One memory by its id.',
    answer: { description: 'The memory.', schema: Memory, example: examples.memory },
  },
  update: {
    tag: 'Memories',
    summary: 'Update a memory',
    description:
      'Replaces the content, and the metadata where it is given, each as a whole. On a memory ' +
      'that is processing or has failed the update wins: it is `complete`.',
    request: { schema: UpdateRequest, examples: { content: examples.updateRequest } },
    answer: {
      description: 'The memory as it is now.',
      schema: Memory,
      example: examples.updatedMemory,
    },
    holdsText: true,
  },
  delete: {
    tag: 'Memories',
    summary: 'Delete a memory',
    description: 'For good: it is gone from lists, search and the queue when the answer comes.',
    answer: { description: 'It is deleted.' },
  },
  deleteAll: {
    tag: 'Memories',
    summary: 'Delete everything of a user',
    description:
      'The right to erasure: all memories of the user are gone from lists, search and the queue ' +
      'when the answer comes, and their text from stored answers.',
    query: { schema: DeleteAllQuery, example: { userId: 'u-1' } },
    answer: {
      description: 'How many memories are gone; 0 for a user without any.',
      schema: Deleted,
      example: examples.deleted,
    },
  },
  status: {
    tag: 'Memories',
    summary: 'Ask how far the work on a memory is',
    description:
      'True from the moment the ingest call answered. `chunksTotal` is 0 until the text is split.',
    answer: {
      description: 'How far the work is.',
      schema: IngestStatus,
      example: examples.ingestStatus,
    },
  },
} satisfies Record<string, Documentation>;
