import { beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { limits } from '../../sdk/contract/limits.ts';
import { backend } from '../support/backend.ts';
import { withFolder } from '../support/folder.ts';
import { send, withServer } from '../support/server.ts';
import { rejectionOf } from '../support/thrown.ts';
import { until } from '../support/until.ts';
import { expectRan, memory } from './command.ts';

describe.skipIf(backend !== 'sqlite')('a restore', async () => {
  const folder = withFolder();
  const server = await withServer();
  let backup = folder.file('backup.db');
  beforeEach(async () => {
    backup = folder.file(`${crypto.randomUUID()}.db`);
    for (const userId of await users()) await server.client.deleteAll({ userId });
  });

  const run = (...argv: string[]) => memory([...argv, '--database', server.databaseUrl]);
  const saveFor = (userId: string) => server.client.save({ userId, content: `of ${userId}` });

  /** Stops the server, restores the backup, and starts the server again. */
  async function restore(...flags: string[]): Promise<string> {
    let stderr = '';
    await server.restart(async () => {
      const ran = await run('restore', backup, ...flags);
      expect(ran).toMatchObject({ code: 0 });
      ({ stderr } = ran);
    });
    return stderr;
  }

  const statusWith = async (key: string) =>
    (await send(server, 'GET', '/v1/key', { headers: { authorization: `Bearer ${key}` } })).status;

  test('does not accept a key revoked since the backup, not even after another restore', async () => {
    await run('backup', folder.file('older.db'));
    const create = ['keys', 'create', '--name', 'phone', '--project', 'shop', '--json'];
    const { key, id } = JSON.parse((await run(...create)).stdout);
    await run('backup', backup);
    await run('keys', 'revoke', id);
    const newer = backup;
    backup = folder.file('older.db');
    expect(await restore()).not.toContain(id);
    backup = newer;
    expect(await restore()).toContain(
      `Keys revoked since the backup stay revoked: ${id} (phone, project shop).\n`,
    );
    expect(await statusWith(key)).toBe(401);
    expect(await statusWith(server.key)).toBe(200);
    // A backup in which the key is already revoked brings nothing back.
    backup = folder.file('newest.db');
    await run('backup', backup);
    expect(await restore()).not.toContain(id);
  });

  /** Makes a backup, then erases one user, empties another, and lets a third come back. */
  async function eraseSome(): Promise<string> {
    const { id } = await saveFor('kept');
    const single = [await saveFor('kept'), await saveFor('emptied')];
    for (const userId of ['erased', 'returned']) await saveFor(userId);
    await run('backup', backup);
    for (const userId of ['erased', 'returned']) await server.client.deleteAll({ userId });
    await saveFor('returned');
    for (const one of single) await server.client.delete(one.id);
    return id;
  }

  const users = async () => (await server.client.users()).items.map(({ userId }) => userId);
  const broughtBack = ['emptied', 'erased', 'returned'];
  const named = broughtBack.map((userId) => `${userId} (project default)`).join(', ');

  test('names the users who have memories again, although they had none of these left', async () => {
    const kept = await eraseSome();
    const stderr = await restore();
    expect(stderr).toContain(`erased: ${named}. To erase one again: memory delete --user <id>\n`);
    expect(await users()).toEqual([...broughtBack, 'kept'].sort());
    expect((await server.client.get(kept)).content).toBe('of kept');
  });

  test('erases these users again with --erase-again', async () => {
    await eraseSome();
    const stderr = await restore('--erase-again');
    expect(stderr).toStartWith('Restored 2 memories');
    expect(stderr).toContain(`Users erased since the backup were erased again: ${named}.\n`);
    expect(await users()).toEqual(['kept']);
    const text = () => readFileSync(server.databaseUrl.slice('sqlite:'.length), 'latin1');
    await until(() => !text().includes('of erased'), { what: 'the text to be overwritten' });
    expect(text()).toContain('of kept');
  });

  test('rejects an ETag from before the restore, so that no change is lost', async () => {
    const { id } = await saveFor('u');
    const update = (content: string, options: { ifVersion?: number } = {}) =>
      server.client.update(id, { content }, options);
    await run('backup', backup);
    const { version } = await update('after the backup');
    await restore();
    const later = await update('after the restore');
    const refused = await rejectionOf(update('from the old client', { ifVersion: version }));
    expect(refused.message).toContain('version');
    expect(later.version).toBeGreaterThan(version);
    expect((await server.client.get(id)).content).toBe('after the restore');
    // Nor may a version be repeated by a second restore of the same backup.
    await restore();
    const back = await server.client.get(id);
    expect(back).toMatchObject({ content: 'of u' });
    expect(back.version).toBeGreaterThan(later.version);
  });

  test('keeps versions that an import accepts, whatever another project has imported', async () => {
    const create = ['keys', 'create', '--name', 'other', '--project', 'other', '--json'];
    const { key } = JSON.parse((await run(...create)).stdout);
    const { memoryId, ...saved } = await saveFor('u');
    const imports = async (item: object, headers = {}) =>
      (await send(server, 'POST', '/v1/import', { body: { items: [item] }, headers })).json();
    const highest = { ...saved, version: limits.importedVersion };
    const authorization = `Bearer ${key}`;
    expect(await imports(highest, { authorization })).toMatchObject({ imported: 1 });
    await run('backup', backup);
    await restore();
    const restored = await server.client.get(memoryId);
    expect(await imports({ ...restored, id: 'mem_copy' })).toMatchObject({ imported: 1 });
  });

  test('says that nothing could be checked if the replaced database cannot be read', async () => {
    await saveFor('u');
    await run('backup', backup);
    const path = server.databaseUrl.slice('sqlite:'.length);
    await server.restart(async () => {
      writeFileSync(path, 'no database at all '.repeat(1_000));
      expectRan(await run('restore', backup, '--erase-again'), 1, 'not a database');
      expect(readFileSync(path, 'utf8')).toStartWith('no database');
      const { stdout } = await run('restore', backup, '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        unchecked: `${path} cannot be read: file is not a database`,
        revokedKeys: [],
        broughtBackUsers: [],
      });
    });
    expect(await users()).toEqual(['u']);
  });
});
