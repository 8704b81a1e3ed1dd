import { join } from 'node:path';
import { Glob } from 'bun';

/** A file. The path is relative to the root of the repository. */
export type Source = { path: string; text: string };

/** A violation of a rule. Lines count from 1. */
export type Breach = { line: number; why?: string };

/** A rule, with an example of a file that breaks the rule and of one that does not. */
export type Rule = {
  name: string;
  breaches(source: Source): Breach[];
  bad: Source;
  good: Source;
};

const root = join(import.meta.dir, '../..');
const folders = ['server', 'sdk', 'cli', 'mcp', 'tests'];
const foreign = /(^|\/)(node_modules|dist|data|coverage|\.git)\//;

let sources: Promise<Source[]> | undefined;

/** Reads all TypeScript files of the checked folders and caches the result. */
export function readSources(): Promise<Source[]> {
  sources ??= readAll();
  return sources;
}

async function readAll(): Promise<Source[]> {
  const paths = (await allPaths()).filter((path) => folders.includes(path.split('/', 1).join()));
  const ours = paths.filter((path) => /\.tsx?$/.test(path));
  return Promise.all(ours.map(async (path) => ({ path, text: await readText(path) })));
}

/** Returns the paths of all files in the repository, except dependencies and build output. */
export async function allPaths(): Promise<string[]> {
  const found = await Array.fromAsync(new Glob('**/*').scan({ cwd: root, dot: true }));
  return found.filter((path) => !foreign.test(path)).sort();
}

export function readText(path: string): Promise<string> {
  return Bun.file(join(root, path)).text();
}

export function linesThatMatch(text: string, pattern: RegExp): Breach[] {
  return text.split('\n').flatMap((line, index) => {
    const [match] = pattern.exec(line) ?? [];
    return match === undefined ? [] : [{ line: index + 1, why: match.trim() }];
  });
}

export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
