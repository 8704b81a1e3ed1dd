import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/* Which Markdown files are pages of the site, and where the links between them lead. */

export const repository = 'https://github.com/memory-service/memory-service';
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Files, and folders with a slash at the end, without pages. */
const excluded = [
  'CODE_OF_CONDUCT.md',
  'SECURITY.md',
  '.github/',
  'data/',
  'dist/',
  'sdk/',
  'server/',
  'tests/',
];
export const srcExclude = excluded.map((path) => path.replace(/\/$/, '/**'));

const isPage = (path: string) =>
  path.endsWith('.md') && !excluded.some((prefix) => path.startsWith(prefix));

export function linkOf(path: string): string {
  return path === 'README.md' ? '/' : `/${path.replace(/(?:README)?\.md$/, '')}`;
}

/** Returns the link target. Links to files outside the site point to the repository. */
export function targetOf(href: string, page: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href;
  const [path = '', hash] = href.split('#', 2);
  const target = relative(root, resolve(root, dirname(page), path));
  if (isPage(target)) return linkOf(target) + (hash === undefined ? '' : `#${hash}`);
  return `${repository}/blob/main/${target}`;
}
