import type { Read, StoredMemory } from '../storage.ts';
import type { Task } from '../task-storage.ts';

type Reading = (read: Read & { id: string }) => Promise<StoredMemory | null>;

export type ReadAhead = {
  /** Sets the next tasks, in the order in which their memories will be read. */
  expect(tasks: readonly Task[]): void;
  getMemory: Reading;
};

/** The maximum number of prefetched memories. Memories can be large. */
const maxAhead = 8; // mutate-ignore constant: affects only speed

/**
 * Prefetches the memories of the next tasks. The worker processes one task at a time, so this saves
 * a round trip per task. A prefetched text may be outdated, but a change of the text also
 * invalidates the task's lease.
 */
export function createReadAhead(read: Reading): ReadAhead {
  const begun = new Map<string, Promise<StoredMemory | null>>();
  let expected: { projectId: number; id: string }[] = [];

  function readOn(now: number): void {
    // mutate-ignore boundary: affects only speed
    while (begun.size < maxAhead) {
      const next = expected.shift();
      if (next === undefined) return;
      const reading = read({ ...next, now });
      // Prevents an unhandled rejection. The caller of `getMemory` receives the error.
      reading.catch(() => {});
      begun.set(nameOf(next), reading);
    }
  }

  return {
    expect(tasks) {
      begun.clear();
      expected = tasks.map(({ projectId, memoryId: id }) => ({ projectId, id }));
    },
    getMemory(asked) {
      readOn(asked.now);
      const reading = begun.get(nameOf(asked));
      begun.delete(nameOf(asked));
      readOn(asked.now);
      return reading ?? read(asked);
    },
  };
}

function nameOf({ projectId, id }: { projectId: number; id: string }): string {
  return `${projectId} ${id}`;
}
