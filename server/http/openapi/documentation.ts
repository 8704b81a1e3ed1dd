import type { TObject, TSchema } from '@sinclair/typebox';
import type { OperationName } from '../../../sdk/contract/operations.ts';
import { Health } from '../../../sdk/contract/status.ts';
import * as examples from './examples.ts';
import { ingest } from './ingest.ts';
import { memories } from './memories.ts';
import { transfer } from './transfer.ts';

export const tags = {
  Memories: 'What is known of a user, piece by piece.',
  Ingest: 'Five doors for records: tickets, documents, conversations, events and profiles.',
  Transfer: 'Taking memories out of a project and into another, as they are.',
  Service: 'The service itself. Needs no key.',
};

/** What method and path do not tell of an operation. */
export type Documentation = {
  tag: keyof typeof tags;
  /** A few words, as in a table of contents. */
  summary: string;
  description: string;
  query?: { schema: TObject; example: { [name: string]: unknown } };
  request?: { schema: TSchema; examples: { [name: string]: unknown } };
  answer: Content;
  /** The answer holds a memory's text: repeated after a delete it is cut down. */
  holdsText?: true;
  /** The answer names in `Location` where the status of the work is. */
  located?: true;
  /** What a 503 says beside the body of every error. */
  failing?: Content;
};

/** A body; without a schema there is none. */
export type Content = { description: string; schema?: TSchema; example?: unknown };

/** The whole documentation: one entry for each operation, from which all else is derived. */
export const documentation: Record<OperationName, Documentation> = {
  ...memories,
  ...ingest,
  ...transfer,
  health: {
    tag: 'Service',
    summary: 'Ask how the service is',
    description: 'For load balancers and people. Needs no key.',
    answer: { description: 'It works.', schema: Health, example: examples.health },
    failing: {
      description:
        'The database does not answer, the disk fails, the queue does not move, or it is shutting down.',
      schema: Health,
      example: examples.failingHealth,
    },
  },
};
