import { describe, expect, test } from 'bun:test';
import { basename } from 'node:path';
import { $ } from 'bun';
import { packPython } from '../../.release/python.ts';
import { withFolder } from '../support/folder.ts';

/* Packing needs Python and a package index. */

const folder = withFolder();
const [wheel = '', sdist = ''] = await packPython(folder.file('a')).catch((error) => {
  console.warn(`Skipping the tests of the Python packages: ${error}`);
  return [];
});

describe.skipIf(wheel === '')('the Python package', () => {
  test('is at most 50 KB and contains only the SDK and its metadata', async () => {
    expect(basename(wheel)).toMatch(/^memory_service-[\d.]+-py3-none-any\.whl$/);
    expect(Bun.file(wheel).size).toBeLessThanOrEqual(50_000);
    const listed = await $`python3 -m zipfile -l ${wheel}`.text();
    expect(listed).toContain('memory_service/py.typed');
    expect(listed).toContain('licenses/LICENSE');
    expect(listed).not.toContain('tests/');
    expect(await $`tar tzf ${sdist}`.text()).toContain('/LICENSE\n');
  });

  test('has the same bytes if it is built again', async () => {
    const again = await packPython(folder.file('b'));
    for (const [index, path] of [wheel, sdist].entries()) {
      const [first, second] = [Bun.file(path), Bun.file(again[index] ?? '')];
      expect(Bun.hash(await second.bytes())).toBe(Bun.hash(await first.bytes()));
    }
  });
});
