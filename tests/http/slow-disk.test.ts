import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { straceMissing } from '../faults/strace.ts';
import { createTarget } from '../faults/target.ts';
import { until } from '../support/until.ts';

/* Where the wait for a slow disk is: of a client that is alone in COMMIT, by SQLite's fsync; beside
 * somebody who reads in a thread, by fdatasync. */

const syncMs = 30;
const userId = 'alone';

describe.if(straceMissing() === null).each(['GET', 'HEAD'])(
  'writes on a slow disk, and a %s',
  (method) => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-slow-'));
    const calls = join(folder, 'calls');
    const target = createTarget();

    beforeAll(async () => {
      const traced = ['-e', 'trace=fsync,fdatasync'];
      const slow = ['-e', `inject=fsync,fdatasync:delay_exit=${syncMs * 1_000}`];
      await target.start(['strace', '-f', '-qq', '-o', calls, ...traced, ...slow]);
    });

    afterAll(async () => {
      await target.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    async function send(method: string, path: string, body?: object): Promise<void> {
      const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' };
      const request = { method, headers, body: JSON.stringify(body) };
      const reply = await fetch(target.url + path, request);
      expect(reply.status).toBeLessThan(300);
    }

    const save = (content: string) => send('POST', '/v1/memories', { userId, content });

    /** Which calls made the syncs of three saves. */
    async function syncsOfThree(): Promise<string[]> {
      const seen = () => readFileSync(calls, 'utf8').match(/fsync\(|fdatasync\(/g) ?? [];
      const before = seen().length;
      for (const content of ['a', 'b', 'c']) await save(content);
      return seen().slice(before);
    }

    test('wait in COMMIT while nobody reads, and beside readers in a thread', async () => {
      await save('the first shows that the disk is slow');
      // Probes are not readers.
      await send('GET', '/health');
      // After a commit of over 100 ms, which the machine may have had, not for five seconds.
      await until(async () => `${await syncsOfThree()}` === 'fsync(,fsync(,fsync(', {
        timeoutMs: 20_000,
        what: 'three writes that waited in COMMIT',
      });
      await send(method, `/v1/memories?userId=${userId}`);
      expect(await syncsOfThree()).toEqual(['fdatasync(', 'fdatasync(', 'fdatasync(']);
    });
  },
);
