import { expect, test } from 'bun:test';
import { openStorage } from '../../server/storage/open.ts';
import { newPrimary } from '../support/postgres-pair.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { memory, newProject } from './fixtures.ts';

test('health() reports that the synchronous standby is away, and no write is tried', async () => {
  await using node = await newPrimary();
  const setNames = async (names: string) => {
    await node.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await node.query('SELECT pg_reload_conf()');
    const isSet = async () => {
      const [row] = await node.query('SHOW synchronous_standby_names');
      return row?.synchronous_standby_names === names;
    };
    await until(isSet, { what: 'the setting' });
  };
  const storage = await openStorage(node.url);
  try {
    const project = await newProject({ storage });
    const given = memory();
    await project.save(given);
    await setNames('*');
    const waiting = Promise.allSettled([project.save(memory())]);
    const fault = await until(async () => (await storage.health()).fault);
    expect(fault).toBe('no synchronous standby confirms writes');
    const error = await rejectionOf(project.save(memory()));
    expect(error).toMatchObject({ code: 'unavailable', message: `${fault}; nothing was stored` });
    expect(await project.get(given.id)).toMatchObject(given);
    await setNames('');
    // On a slow machine, its outcome may be unknown by now.
    await waiting;
    await until(async () => (await storage.health()).fault === null);
    await project.save(memory());
    expect(await project.list()).toHaveLength(3);
  } finally {
    await storage.close();
  }
});
