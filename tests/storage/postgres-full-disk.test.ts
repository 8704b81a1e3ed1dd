import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage } from '../../server/storage/open.ts';
import { canMountTmpfs, mountTmpfs } from '../faults/mounts.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';

const megabytes = 200;

/** Does not fit into the free space of a table's pages, even when compressed. */
function large() {
  const parts = Array.from({ length: 2_000 }, () => crypto.randomUUID());
  return memory({ content: parts.join(' ') });
}

describe.if(canMountTmpfs())('a database server whose disk is full', () => {
  test('is reported by health() until there is space again', async () => {
    const mount = mountTmpfs(megabytes);
    const node = await newPrimary({ base: mount.folder });
    const storage = await openStorage(node.url);
    try {
      const project = await newProject({ storage });
      await project.save(large());
      const ballast = join(mount.folder, 'ballast');
      // Without a count, dd stops when the file system is full.
      Bun.spawnSync(['dd', 'if=/dev/zero', `of=${ballast}`, 'bs=4096']);
      const fault = "the database server's disk is full";
      const error = await rejectionOf(project.save(large()));
      expect(error).toMatchObject({ code: 'unavailable', message: `${fault}; nothing was stored` });
      let probes = 0;
      let last: unknown;
      await until(async () => {
        expect((await storage.health()).fault).toBe(fault);
        const [probe] = await node.query(
          `SELECT query_start::text AS at FROM pg_stat_activity
           WHERE application_name = 'memory health'`,
        );
        if (probe?.at !== last) probes += 1;
        last = probe?.at;
        return probes > 3;
      });
      rmSync(ballast);
      await until(async () => (await storage.health()).fault === null);
      await project.save(large());
      expect(await project.list()).toHaveLength(2);
    } finally {
      await storage.close();
      await node[Symbol.asyncDispose]();
      mount.unmount();
    }
  });
});
