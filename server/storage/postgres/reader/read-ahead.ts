import type { Read, StoredMemory } from '../../storage.ts';
import type { Task } from '../../task-storage.ts';

type Reading = (read: Read & { id: string }) => Promise<StoredMemory | null>;

/** Reads the memories of claimed tasks ahead of time, one after the other. */
export type ReadAhead = {
  /** The next tasks, in this order. */
  expect(tasks: readonly Task[]): void;
  getMemory: Reading;
};

/** Each text may be several megabytes. */
const maxAhead = 8;

/**
 * The worker does one task at a time and would wait a round trip before each. It does no harm if a
 * text changes after it was read: the change also takes away the lease.
 */
export function createReadAhead(read: Reading): ReadAhead {
  const begun = new Map<string, Promise<StoredMemory | null>>();
  let expected: { projectId: number; id: string }[] = [];

  function readOn(now: number): void {
    while (begun.size < maxAhead) {
      const next = expected.shift();
      if (next === undefined) return;
      const reading = read({ ...next, now });
      // The error is reported to the caller of `read`.
      reading.catch(() => {});
      begun.set(nameOf(next), reading);
    }
  }

  return {
    expect(tasks) {
      begun.clear();
      expected = tasks.flatMap(({ projectId, memoryId }) =>
        memoryId === null ? [] : [{ projectId, id: memoryId }],
      );
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
