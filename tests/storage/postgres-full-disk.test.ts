import { expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { canMountTmpfs, mountTmpfs } from '../faults/mounts.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';
import { expectFault } from './health.ts';
import { openInSchema } from './postgres.ts';

const megabytes = 200;

/** Does not fit into the free space of a table's pages, even when compressed. */
function large() {
  const parts = Array.from({ length: 2_000 }, () => crypto.randomUUID());
  return memory({ content: parts.join(' ') });
}

test.if(canMountTmpfs())(
  'a full disk of the database server is reported until it has space',
  async () => {
    const mount = mountTmpfs(megabytes);
    using _ = { [Symbol.dispose]: () => mount.unmount() };
    await using node = await newPrimary({ base: mount.folder });
    await using opened = await openInSchema({ database: node });
    const { storage } = opened;
    const project = await newProject(opened);
    await project.save(large());
    const ballast = join(mount.folder, 'ballast');
    // Without a count, dd stops when the file system is full.
    Bun.spawnSync(['dd', 'if=/dev/zero', `of=${ballast}`, 'bs=4096']);
    expect(await rejectionOf(project.save(large()))).toMatchObject({ code: 'unavailable' });
    const fault = "the database server's disk is full";
    await expectFault({ storage, project }, fault, async () => {
      const probes = new Set();
      await until(async () => {
        expect((await storage.health()).fault).toBe(fault);
        const probe = `SELECT query_start::text AS at FROM pg_stat_activity
        WHERE application_name = 'memory health'`;
        probes.add((await node.query(probe))[0]?.at);
        return probes.size > 3;
      });
      rmSync(ballast);
    });
    await project.save(large());
    expect(await project.list()).toHaveLength(3);
  },
);
