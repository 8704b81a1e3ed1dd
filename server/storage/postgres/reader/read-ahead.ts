import type { Read, StoredMemory } from '../../storage.ts';
import type { Task } from '../../task-storage.ts';

type Reading = (read: Read & { id: string }) => Promise<StoredMemory | null>;

/** Reads the memories of claimed tasks before they are asked for, one after the other. */
export type ReadAhead = {
  /** These are worked on next, in this order. */
  expect(tasks: readonly Task[]): void;
  getMemory: Reading;
};

/** Each may be several megabytes. */
const maxAhead = 8;

/**
 * The worker does one task at a time, and would wait for the way to the database before each. A
 * text that is read too early to be the last costs nothing: who changed it has taken the lease.
 */
export function createReadAhead(read: Reading): ReadAhead {
  const begun = new Map<string, Promise<StoredMemory | null>>();
  let expected: { projectId: number; id: string }[] = [];

  function readOn(now: number): void {
    while (begun.size < maxAhead) {
      const next = expected.shift();
      if (next === undefined) return;
      const reading = read({ ...next, now });
      // Whoever asks for it hears of the error.
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
