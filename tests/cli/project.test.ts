import { describe, expect, test } from 'bun:test';
import type { Memory, Stats, Task } from '../../sdk/index.ts';
import { backend } from '../support/backend.ts';
import { startTestServer, withProject } from '../support/server.ts';
import { importable } from '../support/writes.ts';
import { lines, memoryAt } from './command.ts';

/* The commands that show what a project holds. */

const server = await withProject();

async function newProject() {
  const key = await server.createKey(crypto.randomUUID());
  return memoryAt({ ...server, key });
}

function failed(userId: string): Memory {
  return { ...importable(userId), id: `mem_${crypto.randomUUID()}`, status: 'failed' };
}

describe('memory users', () => {
  test('lists the users with their counts and sizes, page by page', async () => {
    const people = await newProject();
    expect(await people(['users'])).toMatchObject({ code: 0, stdout: '' });
    for (const user of ['ada', 'ada', 'ben']) await people(['save', '--user', user, 'x']);
    const { stdout } = await people(['users']);
    const rows = lines(stdout).map((line) => line.split('\t').slice(0, 3));
    expect(rows).toEqual([
      ['ada', '2', '6'],
      ['ben', '1', '3'],
    ]);
    const page = JSON.parse((await people(['users', '--limit', '1', '--json'])).stdout);
    expect(page.items).toMatchObject([{ userId: 'ada', memories: 2, bytes: 6 }]);
    const rest = await people(['users', '--cursor', page.nextCursor, '--json']);
    expect(JSON.parse(rest.stdout)).toMatchObject({ items: [{ userId: 'ben' }], nextCursor: null });
    const all = await people(['users', '--all', '--limit', '1', '--json']);
    expect(lines(all.stdout).map((line) => JSON.parse(line).userId)).toEqual(['ada', 'ben']);
    const table = await people(['users'], { terminal: 80 });
    expect(lines(table.stdout)[0]).toMatch(/^USER +MEMORIES +SIZE +NEWEST$/);
  });

  test('lists the largest users first, in one page', async () => {
    const people = await newProject();
    await people(['save', '--user', 'ada', 'x'.repeat(2_046)]);
    for (const text of ['x', 'y']) await people(['save', '--user', 'ben', text]);
    const usersBy = async (order: string, ...more: string[]) => {
      const { stdout } = await people(['users', '--order', order, ...more]);
      return lines(stdout).map((line) => line.split('\t')[0]);
    };
    expect(await usersBy('bytes')).toEqual(['ada', 'ben']);
    expect(await usersBy('memories')).toEqual(['ben', 'ada']);
    expect(await usersBy('memories', '--limit', '1')).toEqual(['ben']);
    expect(await usersBy('bytes', '--all')).toEqual(['ada', 'ben']);
    const table = await people(['users', '--order', 'bytes'], { terminal: 80 });
    expect(lines(table.stdout)[1]).toMatch(/^ada +1 +2\.0 KiB +\ds$/);
    const cursor = await people(['users', '--order', 'bytes', '--cursor', 'x']);
    expect(cursor).toMatchObject({ code: 1, stdout: '' });
    expect(cursor.stderr).toContain('must be omitted with order=bytes');
    expect(await people(['users', '--order', 'size'])).toMatchObject({ code: 2 });
  });
});

describe('memory tasks', () => {
  test('lists what has failed, with attempts and reasons', async () => {
    const project = await newProject();
    const none = await project(['tasks'], { terminal: 80 });
    expect(none.stderr).toContain('memory tasks --status failed');
    expect((await project(['tasks', '--status', 'failed'])).stdout).toBe('');
    const lost = failed('ada');
    await project(['import', '-'], { stdin: JSON.stringify(lost) });
    const { stdout } = await project(['tasks', '--status', 'failed']);
    const errorMessage = 'processing failed before the memory was imported';
    const { id, type, createdAt, content } = lost;
    expect(stdout).toBe(`${[id, 'ada', type, 0, createdAt, errorMessage, content].join('\t')}\n`);
    const json = await project(['tasks', '--status', 'failed', '--json']);
    const page: { items: Task[] } = JSON.parse(json.stdout);
    expect(page.items).toMatchObject([{ id, attempts: 0, errorMessage }]);
    const all = await project(['tasks', '--status', 'failed', '--all', '--json']);
    expect(lines(all.stdout).map((line) => JSON.parse(line).id)).toEqual([id]);
    const table = await project(['tasks', '--status', 'failed'], { terminal: 200 });
    expect(lines(table.stdout)[0]).toMatch(/^ID +USER +TYPE +ATTEMPTS +AGE +ERROR +CONTENT$/);
    expect((await project(['tasks'])).stdout).toBe('');
    const listed = await project(['list', '--user', 'ada', '--status', 'failed']);
    expect(listed.stdout).toStartWith(id);
    const others = await project(['list', '--user', 'ada', '--status', 'complete']);
    expect(others.stdout).toBe('');
  });
});

describe('memory stats', () => {
  test('shows the figures of the project', async () => {
    const project = await newProject();
    await project(['save', '--user', 'ada', 'x'.repeat(1_534)]);
    await project(['import', '-'], { stdin: JSON.stringify(failed('ben')) });
    const stats: Stats = JSON.parse((await project(['stats', '--json'])).stdout);
    expect(stats).toMatchObject({ users: 2, memories: 2, failed: 1, byType: { memory: 1 } });
    const { stdout } = await project(['stats']);
    expect(stdout).toContain('users\t2\n');
    expect(stdout).toContain(`bytes\t${stats.bytes}\n`);
    expect(stdout).toContain('byType.document\t1\n');
    expect(stdout).toContain('byStatus.failed\t1\n');
    const shown = await project(['stats'], { terminal: 80 });
    expect(shown.stdout).toMatch(/^memories +2$/m);
    expect(shown.stdout).toMatch(/^types +1 memory, 1 document$/m);
    expect(shown.stdout).toMatch(/^status +1 complete, 1 failed$/m);
    expect(shown.stdout).toMatch(/^size +1\.\d KiB$/m);
    expect(shown.stderr).toContain('memory tasks --status failed');
    expect(stdout).toMatch(/^databaseBytes\t\d+$/m);
    // PostgreSQL is backed up with its own tools.
    const lastBackup = backend === 'sqlite' ? 'never' : undefined;
    expect(/^last backup +(.*)$/m.exec(shown.stdout)?.[1]).toBe(lastBackup);
  });

  test('leaves out the files if the service has no metrics', async () => {
    const without = await startTestServer({ MEMORY_METRICS: 'off' });
    const { code, stdout } = await memoryAt(without)(['stats']);
    await without.stop();
    expect(code).toBe(0);
    expect(stdout).not.toContain('databaseBytes');
  });

  test('names the user of a bound key', async () => {
    const key = await server.createKey('default', { userId: 'ada' });
    const { stdout } = await memoryAt({ ...server, key })(['stats']);
    expect(stdout).toContain('user\tada\n');
    expect(stdout).toContain('memories\t0\n');
  });
});
