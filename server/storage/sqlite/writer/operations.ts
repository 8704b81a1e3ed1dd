import type { Database } from 'bun:sqlite';
import { createIdempotencyKeys, type IdempotencyKeys } from './idempotency.ts';
import { createKeyWrites, type KeyWrites } from './keys.ts';
import { createMemoryWrites, type MemoryWrites } from './memories.ts';
import { createOrigins } from './origins.ts';
import { createQueueLimit } from './queue-limit.ts';
import { createRecordWrites, type RecordWrites } from './records.ts';
import { createRemoval, type Removal } from './removal.ts';
import type { ScrubNote } from './scrub.ts';
import { createTaskWrites, type TaskWrites } from './tasks.ts';
import { createUptime, type Uptime } from './uptime.ts';
import { createUsers } from './users.ts';
import { createVectorWrites, type VectorWrites } from './vectors.ts';

export type Operations = MemoryWrites &
  RecordWrites &
  Pick<Removal, 'eraseUser'> &
  Omit<TaskWrites, 'queue' | 'queueInserted' | 'addFailed'> &
  KeyWrites &
  VectorWrites;

export function openWrites(
  db: Database,
  scrub: ScrubNote,
): { operations: Operations; keys: IdempotencyKeys; removal: Removal; uptime: Uptime } {
  const users = createUsers(db);
  const uptime = createUptime(db);
  const keys = createIdempotencyKeys(db, uptime);
  const origins = createOrigins(db);
  const tasks = createTaskWrites(db, users);
  const removal = createRemoval(db, { keys, users, scrub });
  const queueLimit = createQueueLimit(db);
  const operations: Operations = {
    ...createMemoryWrites(db, { keys, users, origins, removal }),
    ...createRecordWrites(db, { keys, users, origins, tasks, removal, queueLimit }),
    ...tasks,
    ...createKeyWrites(db),
    ...createVectorWrites(db),
    eraseUser: removal.eraseUser,
  };
  return { operations, keys, removal, uptime };
}
