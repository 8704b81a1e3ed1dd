import { afterAll } from 'bun:test';
import { testErasure } from './conformance-erasure.ts';
import { testExpiry } from './conformance-expiry.ts';
import { testExternalIds } from './conformance-external-ids.ts';
import { testIdempotency } from './conformance-idempotency.ts';
import { testIsolation } from './conformance-isolation.ts';
import { testKeys } from './conformance-keys.ts';
import { testLeases } from './conformance-leases.ts';
import { testMemories } from './conformance-memories.ts';
import { testParts } from './conformance-parts.ts';
import { testProject } from './conformance-project.ts';
import { testReads } from './conformance-reads.ts';
import { testRetries } from './conformance-retries.ts';
import { testSearch } from './conformance-search.ts';
import { testTasks } from './conformance-tasks.ts';
import { testTransfer } from './conformance-transfer.ts';
import { testUnchanged } from './conformance-unchanged.ts';
import { testVectors } from './conformance-vectors.ts';
import type { Opened, OpenStorage } from './fixtures.ts';

/** Tests that the backend that `open` opens keeps the promises made in storage.ts. */
export function testConformance(name: string, open: OpenStorage): void {
  /** All parts use one storage, but for those with a small queue. */
  let shared: Promise<Opened> | undefined;
  let dispose: Opened['dispose'] | undefined;
  async function openShared(): Promise<Opened> {
    const opened = await open();
    dispose = opened.dispose;
    return Object.assign(opened, { dispose: async () => {} });
  }
  const openPart: OpenStorage = (options) => {
    if (options !== undefined) return open(options);
    shared ??= openShared();
    return shared;
  };
  afterAll(() => dispose?.());

  // Erasures first: each rebuilds the file, which the parts with large texts make larger.
  for (const testPart of [
    testErasure,
    testMemories,
    testExternalIds,
    testIsolation,
    testExpiry,
    testIdempotency,
    testTasks,
    testLeases,
    testRetries,
    testKeys,
    testUnchanged,
    testVectors,
    testTransfer,
    testSearch,
    testReads,
    testProject,
    testParts,
  ]) {
    testPart(name, openPart);
  }
}
