import { afterAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { until } from '../support/until.ts';
import { temporaryFolder } from './command.ts';

/* What a first start must not fail on, and whom the command line must not tell its key. */

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const main = `${process.cwd()}/cli/main.ts`;

function memory(args: string[], env: Record<string, string>) {
  return Bun.spawn([process.execPath, main, ...args], {
    env: { PATH: process.env.PATH, HOME: folder.path, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

test('the first key is shown whatever the profile is like, and the server stays', async () => {
  writeFileSync(folder.file('a-file'), 'not a folder');
  const database = `sqlite:${folder.file('first.db')}`;
  const args = ['serve', '--port', '0', '--database', database];
  const child = memory(args, { XDG_CONFIG_HOME: folder.file('a-file'), LOG_LEVEL: 'silent' });
  let told = '';
  const reading = (async () => {
    for await (const chunk of child.stderr) told += new TextDecoder().decode(chunk);
  })();
  await until(() => /mk_\w{38}/.test(told) && told.includes('could not be kept'));
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  await reading;
});

test('a proxy is not given what is meant for this machine', async () => {
  const heard: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('data', (data) => heard.push(String(data)));
    socket.on('error', () => {});
    socket.end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const env = { HTTP_PROXY: url, http_proxy: url, MEMORY_API_KEY: 'a-secret-key-of-mine' };
  const child = memory(['list', '--user', 'u', '--base-url', 'http://127.0.0.1:9'], env);
  expect(await child.exited).toBe(5);
  expect(heard).toEqual([]);
  proxy.close();
});
