import { expect } from 'bun:test';
import { doctor } from '../../server/admin.ts';
import { rowsOf } from '../support/rows.ts';
import type { Opened, Project } from './fixtures.ts';

/* What holds in every database after any writes. */

/** Responses that still show a memory that no longer exists. */
const shownResponses = `SELECT k.key, k.body FROM idempotency_keys AS k
  WHERE k.memory_id IS NOT NULL
    AND k.body <> '{"id":"' || k.memory_id || '","memoryId":"' || k.memory_id || '","deleted":true}'
    AND NOT EXISTS (SELECT 1 FROM memories AS m
      WHERE m.project_id = k.project_id AND m.id = k.memory_id)`;

/** The columns that a write derives from others. */
const wrongBytes = `SELECT id FROM memories
  WHERE bytes <> octet_length(content) + octet_length(metadata)`;

export async function expectConsistent({ url }: Pick<Opened, 'url'>): Promise<void> {
  const findings = await doctor(url);
  const found = findings.find(({ name }) => name === 'consistency');
  expect(found).toMatchObject({ level: 'ok' });
  for (const text of [shownResponses, wrongBytes]) expect(await rowsOf(url, text)).toEqual([]);
}

/** Expects that a search for a word of every memory finds those that have been processed. */
export async function expectSearchable(project: Project, userId: string, word: string) {
  const ids = (items: { id: string }[]) => items.map(({ id }) => id).sort();
  const listed = await project.list(userId, { filter: { status: 'complete' } });
  const found = await project.search(word, { userId, limit: listed.length + 1 });
  expect(ids(found)).toEqual(ids(listed));
}
