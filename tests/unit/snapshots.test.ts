import { Database } from 'bun:sqlite';
import { beforeEach, describe, expect, test } from 'bun:test';
import { indexedChunks } from '../../server/memory/chunks.ts';
import { indexFormat, SearchIndex } from '../../server/search/index.ts';
import { eraseUser } from '../../server/storage/operations/erasure.ts';
import { ensureProject } from '../../server/storage/operations/keys.ts';
import {
  deleteMemory,
  saveMemory,
  updateMemory,
} from '../../server/storage/operations/memories.ts';
import { storeSnapshot } from '../../server/storage/operations/snapshots.ts';
import { storeVectorPart } from '../../server/storage/operations/vector-parts.ts';
import { ensureModel } from '../../server/storage/operations/vectors.ts';
import { migrate } from '../../server/storage/sqlite/migrate.ts';
import { createAlone } from '../../server/storage/sqlite/transaction.ts';
import { memory } from '../storage/fixtures.ts';

/* What is stored of a search index, and when it is not stored. */

function indexOf(...texts: string[]): SearchIndex {
  const index = new SearchIndex(1);
  for (const [at, text] of texts.entries()) {
    const chunks = indexedChunks(text, '{"title":"A title"}', 86_400_000);
    index.put({ id: `${at}`, createdAt: at, chunks });
  }
  return index;
}

// If this fails, change the format too, so that indexes of an earlier version are not used.
test('the format changes with the tokens of a text and with the columns', () => {
  const index = indexOf(
    "Ana: I'd love a Café, ERR-4711!\nBen: 我喜欢北京 on 2024-05-01, running 1,000 km 👍",
    '"Dan": a quoted key',
    'Eva: one\nFay: two\nEva: three\nFay: four',
    'getUserName: A naïveBayesModel of a document. '.repeat(50),
    'user: Straße und Zürich?\nassistant: Example: step 1 tickets tiếng Việt กุ้งข้าว คน',
  );
  const digest = new Bun.CryptoHasher('sha256').update(index.toBytes()).digest('hex');
  const known = '62acec70ae4748d2b777cfb2ca0ccb66c789d098d8ce0dc244bd4825efcce626';
  expect([indexFormat, digest]).toEqual([8, known]);
});

test('an index is stored without the text of removed memories', () => {
  const index = indexOf('lantern harbour', 'zeppelins');
  index.remove('1');
  expect(index.toBytes()).toEqual(indexOf('lantern harbour').toBytes());
});

describe('a snapshot that arrives', () => {
  const write = { at: 1_000, idempotency: null, onlyUserId: null, expectedVersion: null };
  const { id, userId } = memory();
  let db: Database;
  let alone: ReturnType<typeof createAlone>;
  let projectId: number;
  let modelId: number;
  /** What a reader thread has seen of the user. */
  let seen: { change: number; from: number };

  beforeEach(async () => {
    db = new Database(':memory:');
    migrate(db, ':memory:');
    alone = createAlone(db);
    projectId = await alone(ensureProject, 'p');
    const cosines = { mean: 0, deviation: 1, centre: null };
    const model = { name: 'm', digest: 'd', dims: 8, ...cosines, probe: '' };
    modelId = (await alone(ensureModel, model)).modelId;
    await save({ id });
    await save();
    const sql = 'SELECT last_change AS change, snapshot_change AS "from" FROM users';
    seen = db.query<typeof seen, []>(sql).get() ?? { change: 0, from: 0 };
  });

  const save = (fields = {}) => alone(saveMemory, { ...write, projectId, memory: memory(fields) });
  const remove = () => alone(deleteMemory, { ...write, projectId, id });
  const store = (from = seen.from) =>
    alone(storeSnapshot, { ...seen, from, projectId, userId, data: 'index' });

  /** Stores the vectors of both memories, as the reader thread has seen them. */
  const storeVectors = () => {
    const part = { modelId, after: -1, upTo: seen.change, memories: 2, data: 'vectors' };
    return alone(storeVectorPart, { ...part, projectId, userId });
  };

  test('after further saves is stored, and replaced by the next one', async () => {
    await save();
    expect([await store(), await store(seen.change)]).toEqual([true, true]);
    expect([await storeVectors(), await storeVectors()]).toEqual([true, true]);
  });

  const change = () =>
    alone(updateMemory, { ...write, projectId, id, changes: { expiresAt: 9_000 } });
  const erase = () => alone(eraseUser, { ...write, projectId, userId });
  const loseChange = async () => db.run('UPDATE users SET last_change = last_change - 1');

  test.each<[what: string, act: () => Promise<unknown>, words: boolean, vectors: boolean | null]>([
    ['another one', store, false, null],
    ['a failover has lost the last change', loseChange, false, null],
    ['a memory was deleted', remove, false, false],
    ['its user was erased', erase, false, false],
    ['its user was erased and created again', () => erase().then(save), false, false],
    ['a memory has changed', change, true, false],
  ])('after %s: its words are stored: %p, its vectors: %p', async (_, act, words, vectors) => {
    await act();
    expect(await store()).toBe(words);
    if (vectors !== null) expect(await storeVectors()).toBe(vectors);
  });
});
