import { expect, test } from 'bun:test';
import { mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import fc from 'fast-check';
import { MemoryClient } from 'memory-service-sdk';
import { MemoryFiles } from '../index.ts';

/* Random sequences of commands must have the results of the vendor's tool on the file system. */

const sequences = Number(process.env.ADAPTER_SEQUENCES ?? 50);

type Handlers = Parameters<typeof betaMemoryTool>[0];
type Command = Parameters<ReturnType<typeof betaMemoryTool>['run']>[0];

// A name belongs to a file or to a directory, so that few paths lead through files.
const file = fc.constantFrom('a.txt', 'é', 'A b', '.hidden');
const folder = fc.constantFrom('b', '😀', 'node_modules');
const plain = fc
  .tuple(fc.array(folder, { maxLength: 3 }), fc.oneof({ weight: 5, arbitrary: file }, folder))
  .map(([folders, name]) => ['/memories', ...folders, name].join('/'));
const odd = fc.constantFrom(
  ...['/memories', '/memories/', '/memoriesa.txt', '/memories//a.txt', '/memories/b/../a.txt', ''],
  ...['/memories/./b', '/memories/../etc', '/memories/b/../../x', '/etc/passwd', 'memories/a.txt'],
);
const path = fc.oneof({ weight: 9, arbitrary: plain }, odd);
const line = fc.constantFrom('', 'a', 'aa', 'aba', 'b c', 'é', '😀', 'a\r', '\t', '`', '$&');
const text = fc
  .tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom(1, 1, 1, 1, 1, 1, 300, 1500))
  .map(([lines, times]) => lines.join('\n').repeat(times));
const range = fc.array(fc.integer({ min: -2, max: 7 }), { minLength: 1, maxLength: 3 });

const create = fc.record({ command: fc.constant('create'), path, file_text: text });
const command = fc.oneof(
  { weight: 3, arbitrary: create },
  fc.record({ command: fc.constant('view'), path, view_range: fc.option(range) }),
  // Multi-line text, which the vendor's tool does not find, is tested below.
  fc.record({ command: fc.constant('str_replace'), path, old_str: line, new_str: text }),
  fc.record({
    ...{ command: fc.constant('insert'), path, insert_text: text },
    insert_line: fc.integer({ min: -1, max: 6 }),
  }),
  fc.record({ command: fc.constant('delete'), path }),
  fc.record({ command: fc.constant('rename'), old_path: path, new_path: path }),
) as fc.Arbitrary<Command>;

/** Points half of the paths of later commands to files that were created before. */
function related(commands: Command[], picks: number[]): Command[] {
  const used: string[] = [];
  return commands.map((one, index) => {
    const pick = picks[index] ?? 0;
    const before = pick % 4 === 0 ? undefined : used[pick % Math.max(used.length, 1)];
    if (one.command === 'create') used.push(one.path);
    else if (before !== undefined && one.command === 'rename') one = { ...one, old_path: before };
    else if (before !== undefined && one.command !== 'rename') one = { ...one, path: before };
    if (one.command === 'rename') used.push(one.new_path);
    return one;
  });
}

/** Returns null if the file system failed, for example because a path leads through a file. */
async function resultOf(handlers: Handlers, command: Command): Promise<unknown> {
  try {
    return await betaMemoryTool(handlers).run(command);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return 'syscall' in error ? null : `error: ${error.message}`;
  }
}

/** The size of a directory depends on the file system. */
function withOneDirectorySize(result: unknown): unknown {
  if (typeof result !== 'string' || !result.startsWith("Here're")) return result;
  const [header, own = '', ...entries] = result.split('\n');
  const fixed = (entry: string) => entry.replace(/^[\d.]+[BKMG]/, '4K');
  return [header, fixed(own), ...entries.map((one) => (one.endsWith('/') ? fixed(one) : one))].join(
    '\n',
  );
}

/** Deliberate difference: a directory exists while it contains a file. */
async function removeEmptyDirectories(at: string): Promise<void> {
  for (const entry of await readdir(at, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    await removeEmptyDirectories(join(at, entry.name));
    await rmdir(join(at, entry.name)).catch(() => {});
  }
}

const client = new MemoryClient();
let user = 0;
const counts = new Map<string, number>();

async function compare(commands: Command[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-oracle-'));
  const vendors = await BetaLocalFilesystemMemoryTool.init(folder);
  const ours = new MemoryFiles(client, { userId: `${crypto.randomUUID()}-${user++}` });
  try {
    for (const one of commands) {
      const expected = withOneDirectorySize(await resultOf(vendors, one));
      await removeEmptyDirectories(join(folder, 'memories'));
      if (expected === null) return;
      expect(await resultOf(ours, one)).toEqual(expected);
      const kind = `${one.command} ${String(expected).startsWith('error: ') ? 'failed' : 'done'}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('random sequences have the results of the local tool', async () => {
  const commands = fc
    .tuple(
      fc.array(command, { minLength: 8, maxLength: 16 }),
      fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
    )
    .map(([list, picks]) => related(list, picks));
  await fc.assert(fc.asyncProperty(commands, compare), { numRuns: sequences });
  console.log(`${sequences} sequences:`, Object.fromEntries(counts));
  expect(counts.size).toBe(12);
}, 3_600_000);
