import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { backend } from '../support/backend.ts';
import { startEndpoint } from '../support/embeddings-endpoint.ts';
import { searchByMeaning } from '../support/meaning.ts';
import { startTestServer } from '../support/server.ts';

const userId = 'ada';
const memories = 50;
const rounds = 2;

/* The space of deleted texts and vectors must be used again. */
test.skipIf(backend !== 'sqlite')(
  'saving, embedding, changing and deleting the same memories does not enlarge the file',
  async () => {
    await using endpoint = startEndpoint();
    const model = { MEMORY_EMBEDDINGS: endpoint.url, MEMORY_EMBEDDINGS_MODEL: 'first' };
    await using server = await startTestServer(model);
    const options = { idempotencyKey: null };
    async function saveAll(text: string): Promise<string[]> {
      const saves = Array.from({ length: memories }, async (_, index) => {
        const content = `${text} ${index}: ${'the food on the table '.repeat(40)}`;
        const memory = { userId, source: 'notes', externalId: `note-${index}`, content };
        return (await server.client.save(memory, options)).id;
      });
      const ids = await Promise.all(saves);
      await searchByMeaning(server.client, { userId, query: 'food' });
      return ids;
    }
    const sizes: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      await saveAll(`first text of round ${round}`);
      const ids = await saveAll(`second text of round ${round}`);
      await Promise.all(ids.map((id) => server.client.delete(id, options)));
      // A restart moves the write-ahead log into the file.
      await server.restart();
      sizes.push(sizeOf(server.databaseUrl.replace('sqlite:', '')));
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1.05 * (sizes[0] ?? 0));
  },
);

function sizeOf(path: string): number {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}
