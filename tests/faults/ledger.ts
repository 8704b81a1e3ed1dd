import { listAll } from './api.ts';
import type { Violations } from './harness.ts';
import type { Target } from './target.ts';

export type Ledger = ReturnType<typeof createLedger>;

export type Owed = { userId: string; content: string };

/**
 * Records the effects of acknowledged writes and compares them with the memories that the API
 * returns afterwards. If the outcome of a write is unknown, the client retries the write with the
 * same key, so every write is eventually acknowledged or rejected.
 */
export function createLedger() {
  const owed = new Map<string, Owed>();
  const gone = new Set<string>();
  const users = new Set<string>();

  return {
    counts: { acknowledged: 0, rejected: 0, unknownOutcomes: 0, replayed: 0 },
    /** Records that the memory must exist with this text. */
    present(id: string, memory: Owed): void {
      owed.set(id, memory);
      users.add(memory.userId);
    },
    /** Records that the memory must not exist. */
    gone(id: string): void {
      gone.add(id);
      owed.delete(id);
    },
    owed: (id: string) => owed.get(id),
    /**
     * Compares the expected memories with those that the API lists. The queue must be empty.
     * `failed` counts memories whose processing failed. The load sends only valid records, so a
     * fault may delay the processing but must not make it fail.
     */
    async compare(target: Target, violations: Violations) {
      const found = { lost: 0, altered: 0, duplicated: 0, undeleted: 0, stuck: 0, failed: 0 };
      const note = (kind: keyof typeof found, id: string) => {
        found[kind] += 1;
        violations.add(`${kind}: ${id}`);
      };
      for (const userId of users) {
        const listed = await listAll(target, userId);
        const shown = new Map(listed.map((memory) => [memory.id, memory]));
        for (const [id, { content, userId: owner }] of owed) {
          if (owner !== userId) continue;
          const memory = shown.get(id);
          if (memory === undefined) note('lost', id);
          else if (memory.content !== content) note('altered', id);
          if (memory?.status === 'processing') note('stuck', id);
          if (memory?.status === 'failed') note('failed', id);
        }
        for (const id of shown.keys()) {
          if (gone.has(id)) note('undeleted', id);
          else if (!owed.has(id)) note('duplicated', id);
        }
      }
      return found;
    },
  };
}
