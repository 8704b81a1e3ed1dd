import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newUser } from '../support/http.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { startTestServer } from '../support/server.ts';

const chunks = 3;

/** Makes the vectors those of an earlier version, which cut the only memory into other chunks. */
function makeOld(path: string): void {
  using db = new Database(path);
  // The format of the texts is the first word of a digest.
  const renamed = db.run("UPDATE models SET digest = substr(digest, instr(digest, ' ') + 1)");
  const { data } = db.query<{ data: Uint8Array }, []>('SELECT data FROM vectors').get() ?? {};
  const stored = Buffer.from(data ?? []);
  const first = stored.length / chunks;
  const moved = Buffer.concat([stored.subarray(first), stored.subarray(0, first)]);
  const { changes } = db.run('UPDATE vectors SET data = ?', [moved]);
  expect([renamed.changes, changes]).toEqual([1, 1]);
}

test('vectors that an earlier version made of other chunks are made again', async () => {
  using folder = temporaryFolder();
  await using endpoint = startEndpoint();
  const path = folder.file('memory.db');
  const env = { MEMORY_EMBEDDINGS: endpoint.url, MEMORY_EMBEDDINGS_MODEL: 'm' };
  await using server = await startTestServer(env, [], { databaseUrl: `sqlite:${path}` });
  const userId = newUser();
  const peanuts = 'Allergic to peanuts';
  const topics = [peanuts, 'Drives a red Toyota', 'Was married in May'];
  const text = topics.map((topic) => topic.padEnd(400, '.')).join('\n\n');
  const data = { title: 'About her', text };
  const { memoryId } = await server.client.ingest.document({ userId, data });
  const { chunksTotal } = await server.client.waitUntilComplete(memoryId);
  expect(chunksTotal).toBe(chunks);
  const query = { userId, query: 'what food should I avoid?', mode: 'meaning' } as const;
  const snippet = async () => (await searchByMeaning(server.client, query)).items[0]?.snippet;
  expect(await snippet()).toStartWith(peanuts);
  await server.restart(async () => makeOld(path));
  expect(await snippet()).toStartWith(peanuts);
});
