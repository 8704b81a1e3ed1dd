import { listAll } from './api.ts';
import type { Violations } from './harness.ts';
import type { Target } from './target.ts';

export type Ledger = ReturnType<typeof createLedger>;

export type Owed = { userId: string; content: string };

type Comparison = {
  lost: number;
  altered: number;
  duplicated: number;
  undeleted: number;
  stuck: number;
  /**
   * Memories whose processing failed. The load sends only valid records, so a fault may delay the
   * processing but must not make it fail.
   */
  failed: number;
};

/**
 * Records the effects of acknowledged writes and compares them with the memories that the API
 * returns afterwards. If the outcome of a write is unknown, the client retries the write with the
 * same key, so every write is eventually acknowledged or rejected.
 */
export function createLedger() {
  const owed = new Map<string, Owed>();
  const gone = new Map<string, string>();
  const users = new Set<string>();

  async function compareUser(target: Target, userId: string, note: Note): Promise<void> {
    const shown = new Map((await listAll(target, userId)).map((memory) => [memory.id, memory]));
    for (const [id, { content }] of ofUser(owed, userId)) {
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

  return {
    counts: { acknowledged: 0, rejected: 0, unknownOutcomes: 0, replayed: 0 },
    /** Records that the memory must exist with this text. */
    present(id: string, memory: Owed): void {
      owed.set(id, memory);
      users.add(memory.userId);
    },
    /** Records that the memory must not exist. */
    gone(id: string): void {
      gone.set(id, owed.get(id)?.userId ?? '');
      owed.delete(id);
    },
    owed: (id: string) => owed.get(id),
    /** Compares the expected memories with those that the API lists. The queue must be empty. */
    async compare(target: Target, violations: Violations): Promise<Comparison> {
      const found = { lost: 0, altered: 0, duplicated: 0, undeleted: 0, stuck: 0, failed: 0 };
      const note: Note = (kind, id) => {
        found[kind] += 1;
        violations.add(`${kind}: ${id}`);
      };
      for (const userId of users) await compareUser(target, userId, note);
      return found;
    },
  };
}

type Note = (kind: keyof Comparison, id: string) => void;

function ofUser(owed: Map<string, Owed>, userId: string): [string, Owed][] {
  return [...owed].filter(([, memory]) => memory.userId === userId);
}
