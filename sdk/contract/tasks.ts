import { type Static, Type } from '@sinclair/typebox';
import { exampleMemory, memoryFields } from './memory.ts';
import { Cursor, Limit, PageOf, type PageQuery } from './page.ts';
import { taskFields } from './status.ts';

export const TaskStatus = Type.Union([Type.Literal('processing'), Type.Literal('failed')], {
  description:
    '`processing`: the memories that are waiting or being processed. `failed`: those that could ' +
    'not be processed.',
  examples: ['failed'],
});
export type TaskStatus = Static<typeof TaskStatus>;

export const TasksQuery = Type.Object(
  {
    status: TaskStatus,
    limit: Limit('The maximum number of memories in the page.'),
    cursor: Cursor(
      'The `nextCursor` of the previous page: an opaque string that is valid only with the same ' +
        'status.',
    ),
  },
  { additionalProperties: false },
);
export type TasksQuery = PageQuery & {
  /** `processing` includes waiting memories. A `failed` memory is retried by ingesting it again. */
  status: TaskStatus;
};

const exampleTask = {
  ...exampleMemory,
  type: 'document',
  status: 'failed',
  attempts: 5,
  errorMessage: 'the text could not be split',
};

/** A memory that is being processed or has failed. */
export const Task = Type.Object(
  { ...memoryFields, ...taskFields },
  {
    title: 'Task',
    description: 'A memory that is waiting, being processed, or has failed.',
    examples: [exampleTask],
  },
);
export type Task = Static<typeof Task>;

/** One page of tasks. `nextCursor` is null only on the last page. */
export const TaskPage = PageOf(Task, {
  title: 'TaskPage',
  description: 'One page of memories that are being processed or have failed.',
  examples: [{ items: [exampleTask], nextCursor: null }],
});
export type TaskPage = Static<typeof TaskPage>;
