import { memoryTypes } from '../../../sdk/contract/enumerations.ts';
import {
  defaults,
  deleteMemory,
  getMemory,
  listMemories,
  searchMemories,
  updateMemory,
} from './memories.ts';
import { saveMemory } from './save.ts';
import type { Session } from './session.ts';

/**
 * The tools, in the order in which clients list them. Clients send names, descriptions, schemas and
 * annotations to the model in every conversation, so their total is limited to 800 tokens.
 */

export type Tool = {
  name: string;
  description: string;
  /** The schemas of the arguments, and the names of those that are required. */
  properties: Record<string, object>;
  required?: string[];
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
  /** Returns the result as text. `args` match the schema. Throws SDK errors. */
  run(args: unknown, session: Session): Promise<string>;
};

const string = { type: 'string' };
const type = { type: 'string', enum: memoryTypes };
const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };

const limit = (count: number) => ({ type: 'integer', minimum: 1, maximum: 100, default: count });

export const tools: Tool[] = [
  {
    name: 'search_memories',
    description:
      'Search what is remembered about the user, best match first. Matches word forms and ' +
      'tolerates typos.',
    properties: {
      query: { ...string, description: 'Words or a question' },
      limit: limit(defaults.searchLimit),
      type,
      source: string,
      from: { ...string, description: 'At or after this date or time' },
      to: { ...string, description: 'Before this date or time' },
    },
    required: ['query'],
    annotations: reads,
    run: searchMemories,
  },
  {
    name: 'get_memory',
    description: 'Read a memory in full, 8,000 characters at a time.',
    properties: {
      id: string,
      offset: { type: 'integer', minimum: 0, default: 0 },
    },
    required: ['id'],
    annotations: reads,
    run: getMemory,
  },
  {
    name: 'list_memories',
    description: 'List memories, newest first.',
    properties: {
      limit: limit(defaults.listLimit),
      cursor: { ...string, description: 'From the previous page' },
      type,
      source: string,
    },
    annotations: reads,
    run: listMemories,
  },
  {
    name: 'save_memory',
    description: 'Save a fact or a passage of text about the user. It must make sense on its own.',
    properties: {
      content: string,
      key: {
        ...string,
        minLength: 1,
        maxLength: 256,
        description:
          'Name of a fact that may change, such as diet. Reusing the name replaces the fact',
      },
      metadata: { type: 'object' },
    },
    required: ['content'],
    annotations: writes,
    run: saveMemory,
  },
  {
    name: 'update_memory',
    description: "Replace a memory's text.",
    properties: {
      id: string,
      content: string,
      expectedVersion: {
        type: 'integer',
        minimum: 1,
        description: 'Change nothing unless the memory is at this version',
      },
    },
    required: ['id', 'content'],
    annotations: writes,
    run: updateMemory,
  },
  {
    name: 'delete_memory',
    description: 'Delete a memory permanently.',
    properties: { id: string },
    required: ['id'],
    annotations: writes,
    run: deleteMemory,
  },
];
