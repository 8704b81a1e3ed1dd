import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { withProject } from '../support/server.ts';
import { until } from '../support/until.ts';

/* Under concurrent writes, a search must reflect every acknowledged write. */

const server = await withProject();

type Act = 'save' | 'update' | 'delete' | 'ingest';
const acts = fc.array(fc.constantFrom<Act>('save', 'save', 'update', 'delete', 'ingest'), {
  minLength: 5,
  maxLength: 25,
});

/** Runs the writes of one client. After each response, a search must reflect the write. */
async function live(userId: string, client: number, script: Act[]): Promise<void> {
  const known = new Map<string, string>();
  let serial = 0;
  const word = () => {
    serial += 1;
    // Hashes are so far apart in edit distance that no word matches another one as a typo.
    return `w${Bun.hash(`${client} ${serial}`).toString(36)}`;
  };
  const found = async (query: string) =>
    (await server.client.search({ userId, query: `"${query}"` })).items.map(({ id }) => id);
  for (const act of script) {
    const [id, old] = known.entries().next().value ?? [];
    const fresh = word();
    if (act === 'save') {
      const saved = await server.client.save({ userId, content: `the ${fresh} and all` });
      known.set(saved.id, fresh);
      expect(await found(fresh)).toEqual([saved.id]);
    } else if (act === 'ingest') {
      const data = { text: `document ${fresh}` };
      const { memoryId } = await server.client.ingest.document({ userId, data });
      await until(async () => (await server.client.status(memoryId)).status === 'complete');
      known.set(memoryId, fresh);
      expect(await found(fresh)).toEqual([memoryId]);
    } else if (id !== undefined && old !== undefined) {
      known.delete(id);
      if (act === 'delete') {
        await server.client.delete(id);
      } else {
        await server.client.update(id, { content: `now ${fresh}` });
        known.set(id, fresh);
        expect(await found(fresh)).toEqual([id]);
      }
      expect(await found(old)).not.toContain(id);
    }
  }
  for (const [id, text] of known) expect(await found(text)).toEqual([id]);
}

test('a search reflects every acknowledged write of four concurrent clients', async () => {
  let round = 0;
  const scripts = fc.tuple(acts, acts, acts, acts);
  await fc.assert(
    fc.asyncProperty(scripts, async (clients) => {
      round += 1;
      await Promise.all(clients.map((script, client) => live(`round-${round}`, client, script)));
    }),
    { numRuns: 8 },
  );
});
