import { Page } from '../../../sdk/contract/page.ts';
import { ExportQuery, Imported, ImportRequest } from '../../../sdk/contract/transfer.ts';
import type { Documentation } from './documentation.ts';
import * as examples from './examples.ts';

/** Taking memories out and in as they are. */
export const transfer = {
  export: {
    tag: 'Transfer',
    summary: 'Export the memories of a project, or of one user',
    description:
      'In the order of their ids. Pass `nextCursor` on as `cursor` until it is null; a page of ' +
      'large memories holds fewer than `limit`. The items of a page are what import takes.',
    query: { schema: ExportQuery, example: { userId: 'u-1', limit: 1_000 } },
    answer: {
      description: 'One page; `nextCursor` is null at the end, and only there.',
      schema: Page,
      example: examples.lastPage,
    },
  },
  import: {
    tag: 'Transfer',
    summary: 'Import up to 1,000 memories at once',
    description:
      'Takes memories as list and export give them: ids, times, types and status are kept, what ' +
      'was `processing` is processed. An id that the project has already is skipped. Bad items ' +
      'fail alone: look at `failedCount`. The good ones and this answer are committed together.',
    request: { schema: ImportRequest, examples: { memories: examples.importRequest } },
    answer: {
      description: 'What became of the items; the failed ones by their place in `items`.',
      schema: Imported,
      example: examples.imported,
    },
  },
} satisfies Record<string, Documentation>;
