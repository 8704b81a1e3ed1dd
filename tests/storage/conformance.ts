import { afterAll, describe } from 'bun:test';
import { testErasure } from './conformance-erasure.ts';
import { testExpiry } from './conformance-expiry.ts';
import { testIdempotency } from './conformance-idempotency.ts';
import { testLeases } from './conformance-leases.ts';
import { testExternalIds, testIsolation, testKeys, testMemories } from './conformance-memories.ts';
import { testMeasurements, testProjectTasks } from './conformance-project.ts';
import { testLists, testParts, testStatuses } from './conformance-reads.ts';
import { testSearch } from './conformance-search.ts';
import { testFullQueue, testTasks } from './conformance-tasks.ts';
import { testTransfer } from './conformance-transfer.ts';
import { testUnchanged } from './conformance-unchanged.ts';
import { testVectors } from './conformance-vectors.ts';
import type { Opened, OpenStorage } from './fixtures.ts';
import { withStorage } from './suite.ts';

/** Erasures first: each rebuilds the file, which the parts with large texts make larger. */
const parts: [what: string, testPart: () => void][] = [
  ['the erasure of a user', testErasure],
  ['memories', testMemories],
  ['a save with an external id', testExternalIds],
  ['isolation', testIsolation],
  ['an expired memory', testExpiry],
  ['idempotency', testIdempotency],
  ['tasks', testTasks],
  ['a lease', testLeases],
  ['keys', testKeys],
  ['a write that changes nothing', testUnchanged],
  ['vectors', testVectors],
  ['import and export', testTransfer],
  ['a search', testSearch],
  ['lists', testLists],
  ['statuses', testStatuses],
  ['a measurement', testMeasurements],
  ['the tasks of a project', testProjectTasks],
  ['a part of a content', testParts],
];

/** Tests that the backend that `open` opens keeps the promises made in storage.ts. */
export function testConformance(name: string, open: OpenStorage): void {
  /** All parts use one storage, but for that with a small queue. */
  let shared: Promise<Opened> | undefined;
  let dispose: Opened['dispose'] | undefined;
  async function openShared(): Promise<Opened> {
    const opened = await open();
    dispose = opened.dispose;
    return Object.assign(opened, { dispose: async () => {} });
  }
  afterAll(() => dispose?.());

  for (const [what, testPart] of parts) {
    describe(`${name}: ${what}`, () => {
      withStorage(() => (shared ??= openShared()));
      testPart();
    });
  }
  describe(`${name}: a full queue`, () => {
    withStorage(() => open({ smallQueue: true }));
    testFullQueue();
  });
}
