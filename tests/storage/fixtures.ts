import { noFilter } from '../../server/memory/filter.ts';
import type {
  Answer,
  Idempotency,
  NewMemory,
  NumberedPassage,
  PassageStep,
  Storage,
  WriteResult,
} from '../../server/storage/storage.ts';

/*
 * The shortest way to each operation, for the conformance suite: what a test does not name is the
 * same everywhere.
 */

export const projectId = 1;

export function memory(fields: Partial<NewMemory> = {}): NewMemory {
  return {
    id: `mem_${crypto.randomUUID()}`,
    userId: 'u',
    type: 'memory',
    content: 'hello',
    metadata: '{}',
    source: null,
    externalId: null,
    passages: [],
    ...fields,
  };
}

export function record(fields: Partial<NewMemory> = {}): NewMemory {
  return memory({ type: 'document', ...fields });
}

type Common = {
  projectId?: number;
  at?: number;
  idempotency?: Idempotency | null;
  answer?: (outcome: unknown) => Answer;
};

function common(more: Common) {
  const { at = 1_000, idempotency = null, answer = answerWith } = more;
  return { projectId: more.projectId ?? projectId, at, idempotency, answer };
}

function answerWith(outcome: unknown): Answer {
  return { status: 200, body: JSON.stringify(outcome) ?? '' };
}

export function save(storage: Storage, saved: NewMemory, more: Common = {}): Promise<WriteResult> {
  return storage.saveMemory({ ...common(more), memory: saved });
}

export function update(
  storage: Storage,
  id: string,
  content: string,
  more: Common & { metadata?: string } = {},
): Promise<WriteResult> {
  const { metadata = null, ...rest } = more;
  const index = () => [{ start: 0, length: content.length, folded: content }];
  return storage.updateMemory({ ...common(rest), id, content, metadata, index });
}

export function remove(storage: Storage, id: string, more: Common = {}): Promise<WriteResult> {
  return storage.deleteMemory({ ...common(more), id });
}

export function accept(
  storage: Storage,
  records: NewMemory[],
  more: Common = {},
): Promise<WriteResult> {
  return storage.acceptRecords({ ...common(more), records });
}

/** Claims the one job that is due and stores its text as one passage. */
export async function processNext(storage: Storage, now = 2_000): Promise<boolean> {
  const [job] = await storage.claimJobs({ now, horizon: now + 60_000, limit: 1 });
  if (job === undefined) return false;
  const passages = [{ start: 0, length: 5, folded: 'hello' }];
  return storeStep(storage, { ...job, now, first: 0, passages, total: 1 });
}

export async function storeStep(storage: Storage, step: PassageStep): Promise<boolean> {
  const [held = false] = await storage.storePassages([step]);
  return held;
}

export async function passagesOf(storage: Storage, userId: string): Promise<NumberedPassage[]> {
  return (await Array.fromAsync(storage.listPassages(projectId, userId))).flat();
}

export function list(storage: Storage, more: Partial<Parameters<Storage['listMemories']>[0]> = {}) {
  return storage.listMemories({
    projectId,
    userId: 'u',
    filter: noFilter,
    order: 'desc',
    after: null,
    limit: 100,
    ...more,
  });
}
