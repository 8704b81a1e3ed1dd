import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { targetOf } from '../docs/site/.vitepress/links.ts';
import { limits } from '../sdk/contract/limits.ts';
import { distribute } from '../server/storage/postgres/citus.ts';

const root = join(import.meta.dir, '..');
const folders = ['', 'docs/', 'docs/decisions/', 'docs/examples/', 'sdk/', 'tests/'];
const pages = folders.flatMap((folder) => [...new Glob(`${folder}*.md`).scanSync(root)]).sort();
const textOf = (page: string) => Bun.file(join(root, page)).text();

/** Removes code, because brackets in code are not links. */
function proseOf(text: string): string {
  return text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
}

function linksIn(text: string): string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** Returns the anchors that GitHub and VitePress generate for the headings. */
function anchorsIn(text: string): string[] {
  const headings = [...text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

async function isBroken(page: string, link: string): Promise<boolean> {
  if (/^[a-z]+:/.test(link)) return false;
  const [path = '', anchor] = link.split('#', 2);
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && !anchorsIn(await textOf(target)).includes(anchor);
}

async function brokenLinks(page: string, text: string): Promise<string[]> {
  const links = linksIn(text);
  const broken = await Promise.all(links.map((link) => isBroken(page, link)));
  return links.filter((_, index) => broken[index]);
}

describe('links between pages', () => {
  test.each(pages)('of %s lead to files and headings that exist', async (page) => {
    expect(await brokenLinks(page, await textOf(page))).toEqual([]);
  });

  test('are reported if they are broken', async () => {
    const text =
      '[a](nowhere.md) [b](security.md#nothing) [c](security.md#threat-model) `[d](x.md)`';
    expect(await brokenLinks('docs/limits.md', text)).toEqual([
      'nowhere.md',
      'security.md#nothing',
    ]);
  });
});

/** Commands in a page that end with a comment, as in `npm start # the service`. */
function commented(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash|console)\n(.*?)^```/gms)];
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'));
  return lines.filter((line) => /^[^\s#].*\s#\s/.test(line));
}

/* The shell of macOS, zsh, passes the words of a comment to a command that is typed or pasted. */
test.each(pages)('no command in %s ends with a comment', async (page) => {
  expect(commented(await textOf(page))).toEqual([]);
});

/* Bun is a dependency of the repository, and need not be installed otherwise. */
test.each(pages)('%s runs programs with the Bun of the repository', async (page) => {
  expect(await textOf(page)).not.toMatch(/(?<!npx )\bbun (?:test|tests\/)/);
});

test('README.md fits on one page', async () => {
  const text = await textOf('README.md');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(900);
});

test("every page in docs is in the site's sidebar", async () => {
  const config = await textOf('docs/site/.vitepress/config.ts');
  const top = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page));
  expect(top.filter((page) => !config.includes(`'${page}'`))).toEqual([]);
});

test.each([
  ['docs/mcp.md', 'cli.md#batches', '/docs/cli#batches'],
  ['docs/mcp.md', '../README.md', '/'],
  ['README.md', 'docs/examples/README.md', '/docs/examples/'],
  [
    'CONTRIBUTING.md',
    'tests/README.md',
    'https://github.com/memory-service/memory-service/blob/main/tests/README.md',
  ],
  [
    'docs/adapters.md',
    '../sdk/adapters',
    'https://github.com/memory-service/memory-service/blob/main/sdk/adapters',
  ],
])('on the site, the link in %s to %s leads to %s', (page, link, target) => {
  expect(targetOf(link, page)).toBe(target);
});

test('docs/scaling.md distributes the tables as a server does', async () => {
  const page = await textOf('docs/scaling.md');
  const [, tables = ''] = /unnest\('\{(.*?)\}'/.exec(page) ?? [];
  const lines = distribute(tables.split(','))
    .split('\n')
    .map((line) => line.trim());
  const statements = lines.filter((line) => line !== '');
  expect(page).toContain(`BEGIN;\n${statements.join('\n')}\nCOMMIT;`);
});

test("docs/limits.md states the contract's limits", async () => {
  const page = await textOf('docs/limits.md');
  const stated = Object.entries(limits).map(([name, limit]) => {
    if (/bodyBytes/i.test(name)) return `${limit / 1024 ** 2} MiB`;
    return name.endsWith('Ms') ? `${limit / 3_600_000} hours` : limit.toLocaleString('en');
  });
  expect(stated.filter((limit) => !page.includes(limit))).toEqual([]);
});

describe("the site's lockfile", () => {
  const lockfile = () => textOf('docs/site/package-lock.json');

  test('names no registry', async () => {
    expect(await lockfile()).not.toContain('"resolved": "http');
  });

  test('contains the packages of every platform, so that npm does not change it', async () => {
    type Package = { dependencies?: object; optionalDependencies?: object };
    const { packages }: { packages: Record<string, Package> } = JSON.parse(await lockfile());
    const paths = Object.keys(packages);
    const needed = Object.values(packages).flatMap(({ dependencies, optionalDependencies }) =>
      Object.keys({ ...dependencies, ...optionalDependencies }),
    );
    const isMissing = (name: string) =>
      !paths.some((path) => path.endsWith(`node_modules/${name}`));
    expect(needed.filter(isMissing)).toEqual([]);
  });
});
