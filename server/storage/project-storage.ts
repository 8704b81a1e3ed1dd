import type { MemoryStatus, MemoryType } from '../../sdk/contract/memory.ts';
import type { TaskStatus } from '../../sdk/contract/tasks.ts';
import type { Page, PageRange, Read, StoredMemory } from './storage.ts';

/** The reads that show what a project holds. */
export interface ProjectStorage {
  /** Returns the project's users who have memories, or those in `userIds`, ordered by id. */
  listUsers(read: Read & PageRange & { userIds?: string[] }): Promise<UserPage>;

  /**
   * Returns the project's memories with this status, and what the queue knows of them. Memories are
   * ordered as by `listMemories`, newest first. A page with large texts contains fewer memories.
   */
  listTasks(read: Read & PageRange & { status: TaskStatus }): Promise<Page>;

  /**
   * Measures a part of the memories of the project, or of the users in the range. The parts are in
   * the order of the users, and so short that other reads do not have to wait. `after` is the
   * `next` of the previous part, or null for the first part.
   */
  measureMemories(
    read: Read & { users: UserRange | null; after: string | null },
  ): Promise<{ sum: Measurement; next: string | null }>;
}

/** A memory with the state of its task. */
export type StoredTask = StoredMemory & { attempts: number; errorMessage: string | null };

export type UserPage = { users: UserRow[]; next: string | null };

export type UserRow = { userId: string; memories: number; lastCreatedAt: number };

/** The users whose ids are greater than `after`, up to and including `through`. */
export type UserRange = { after: string; through: string };

/** The sums over a set of memories. `largest` has the users with the most memories or bytes. */
export type Measurement = {
  users: number;
  memories: number;
  bytes: number;
  byType: Record<MemoryType, number>;
  byStatus: Record<MemoryStatus, number>;
  embedded: number;
  oldestAt: number | null;
  newestAt: number | null;
  largest: MeasuredUser[];
};

export type MeasuredUser = { userId: string; memories: number; bytes: number };

/** The sums over memories of one user that have the same type and status. */
export type MeasuredGroup = MeasuredUser & {
  type: MemoryType;
  status: MemoryStatus;
  embedded: number;
  oldestAt: number;
  newestAt: number;
};
