import { expect, test } from 'bun:test';
import { $ } from 'bun';
import { packAdapters } from '../../.release/adapters.ts';
import { withFolder } from '../support/folder.ts';

const folder = withFolder();
const tarballs = await packAdapters(folder.path);

test('there are packed adapters', () => expect(tarballs.length).toBeGreaterThan(2));

test.each(tarballs)('%s is a module that imports only its peers', async (tarball) => {
  const files = await $`tar tzf ${tarball}`.text();
  const names = ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json'];
  expect(files.trim().split('\n').sort()).toEqual(names.map((name) => `package/${name}`));
  const read = (name: string) => $`tar xzOf ${tarball} package/${name}`.text();
  const { peerDependencies } = JSON.parse(await read('package.json'));
  const peers = Object.keys(peerDependencies);
  for (const name of ['index.js', 'index.d.ts']) {
    const found = [...(await read(name)).matchAll(/(?:from|import\() ?['"]([^'"]+)['"]/g)];
    const imported = found.map(([, from = '']) => from).filter((from) => !from.startsWith('node:'));
    const isPeer = (from: string) => peers.some((peer) => `${from}/`.startsWith(`${peer}/`));
    expect(imported.filter((from) => !isPeer(from))).toEqual([]);
  }
});
