import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { type Memory, MemoryClient } from '../../sdk/index.ts';
import { hashOf, textsToEmbed } from '../../server/embeddings/texts.ts';
import { createTarget, type Target } from '../faults/target.ts';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { until } from '../support/until.ts';
import { importable } from '../support/writes.ts';

const kills = 2;
const memories = 100;
/** The memories of one user are embedded in one step. */
const users = 10;

type Row = { content: string; metadata: string; hash: string | null };

/** All memories, with the hash of the text whose vectors can be used for searches. */
function readRows(path: string): Row[] {
  const db = new Database(path, { readonly: true });
  const rows = db
    .query<Row, []>(
      `SELECT m.content, m.metadata, v.text_hash AS hash FROM memories AS m
       LEFT JOIN vectors AS v ON v.project_id = m.project_id AND v.memory_id = m.id
         AND v.change = m.last_change
         AND v.model_id = (SELECT model_id FROM models WHERE is_present)`,
    )
    .all();
  db.close();
  return rows;
}

const embedded = (path: string) => readRows(path).filter(({ hash }) => hash !== null).length;

/** The memories that are imported before a kill. */
function itemsOf(round: number): Memory[] {
  return Array.from({ length: memories }, (_, n) => ({
    ...importable(`user-${n % users}`),
    id: `mem_${round}_${n}`,
    content: `The old text of memory ${n}`,
  }));
}

function clientOf({ url, key }: Target): MemoryClient {
  return new MemoryClient({ baseUrl: url, apiKey: key });
}

test('after kills during the backlog, all memories have the vectors of their present text', async () => {
  await using endpoint = startEndpoint();
  endpoint.delayMs = () => 50;
  const env = { MEMORY_EMBEDDINGS: endpoint.url, MEMORY_EMBEDDINGS_MODEL: 'm' };
  await using target = createTarget({ env });
  await target.start();
  for (let round = 1; round <= kills; round += 1) {
    const client = clientOf(target);
    const before = embedded(target.path);
    const items = itemsOf(round);
    expect((await client.import({ items })).imported).toBe(memories);
    await until(() => embedded(target.path) > before, { what: 'progress of the backlog' });
    // Some of these have vectors of their old text, and some are about to get them.
    for (let n = 0; n < 20; n += 1) {
      const { id = '' } = items[(n * 7) % memories] ?? {};
      await client.update(id, { content: `The new text of ${id}` });
    }
    await target.kill();
    await target.start();
  }
  const end = { what: 'the end of the backlog', timeoutMs: 240_000 };
  await until(() => embedded(target.path) === kills * memories, end);
  const wrong = readRows(target.path).filter(({ hash, ...memory }) => {
    return hash !== hashOf(textsToEmbed(memory));
  });
  expect(wrong).toEqual([]);
});
