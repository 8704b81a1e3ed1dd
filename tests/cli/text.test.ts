import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readLines } from '../../cli/bulk/input.ts';
import { inOrder } from '../../cli/bulk/pipeline.ts';
import { jsonSyntaxError } from '../../cli/terminal/json.ts';
import { startProgress } from '../../cli/terminal/progress.ts';
import { age, cut, cutStart, escapeField } from '../../cli/terminal/text.ts';
import { testTerminal } from './command.ts';

describe('text for a terminal', () => {
  test.each<[name: string, shorten: typeof cut]>([
    ['cut', cut],
    ['cutStart', cutStart],
  ])('%s() returns one line of at most the width for any input', (_, shorten) => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 60 }), (given, width) => {
        const line = shorten(given, width);
        expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
        expect(line).not.toContain('\n');
      }),
    );
  });

  test('cut keeps the start, and cutStart() the end', () => {
    expect(cut('a  b\nc', 20)).toBe('a b c');
    expect(cut('漢字漢字', 5)).toBe('漢字…');
    expect(cut(`a${' '.repeat(80)}b`, 10)).toBe('a…');
    expect(cut(`${'x'.repeat(9)} y`, 10)).toBe('xxxxxxxxx…');
    expect(cutStart('docs/a.md', 9)).toBe('docs/a.md');
    expect(cutStart('docs/handbook/a.md', 10)).toBe('…book/a.md');
    expect(cutStart('漢字漢字', 5)).toBe('…漢字');
  });

  test('age() is in whole seconds, minutes up to an hour, hours up to a day, or days', () => {
    const now = Date.parse('2026-11-20T10:00:00.000Z');
    const ago = (ms: number) => age(new Date(now - ms).toISOString(), now);
    expect([-5, 59_999].map(ago)).toEqual(['0s', '59s']);
    const seconds = [60, 2_700, 3_599, 3_600, 82_800, 86_399, 86_400, 86_400 * 400];
    const ages = ['1m', '45m', '59m', '1h', '23h', '23h', '1d', '400d'];
    expect(seconds.map((s) => ago(s * 1_000))).toEqual(ages);
  });

  test.each([
    ['rate and time left', 50, 200, '25%  1,000 records  100/s  30 s left\n'],
    ['only the rate if the size is unknown', 50, undefined, '1,000 records  100/s\n'],
    ['at most 100% of a file that grows', 300, 200, '100%  1,000 records  100/s  0 s left\n'],
  ])('startProgress() shows %s', async (_, done, total, line) => {
    const ran = { code: 0, stdout: '', stderr: '' };
    const show = startProgress(testTerminal({ tickMs: 10_000 }, ran), total);
    await show(1_000, done);
    expect(ran.stderr).toBe(line);
  });
});

test('escapeField() is reversible and escapes every tab and newline', () => {
  const undo = (text: string) =>
    text.replace(/\\(?:u([\da-f]{4})|(.))/g, (_, code, mark) =>
      code ? String.fromCharCode(Number.parseInt(code, 16)) : (signs[mark as string] ?? mark),
    );
  const signs: Record<string, string> = { t: '\t', n: '\n', r: '\r' };
  const unit = fc.constantFrom('\\', '\t', '\n', '\r', 't', 'n', 'u', '0', 'ä', '\x1b', '\u202e');
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(escapeField(text)).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(undo(escapeField(text))).toBe(text);
    }),
  );
});

describe('jsonSyntaxError()', () => {
  test.each([
    ['', 'value expected at line 1, column 1'],
    ['{"a":1,}', 'property name expected at line 1, column 8'],
    ['[1,\n2,\n]', 'value expected at line 3, column 1'],
    ['{"a":tru}', 'invalid symbol at line 1, column 6'],
    ['{\n"a" 1}', 'colon expected at line 2, column 5'],
    ['[1 2]', 'comma expected at line 1, column 4'],
    ['{"a":"x\ny"}', 'unexpected end of string at line 1, column 6'],
    ['{"a":01}', 'comma expected at line 1, column 7'],
    ["{'a':1}", 'invalid symbol at line 1, column 2'],
    ['[1]]', 'end of file expected at line 1, column 4'],
    ['{"a":1', 'close brace expected at line 1, column 7'],
    ['nul', 'invalid symbol at line 1, column 1'],
    ['/* a */ {}', 'invalid comment token at line 1, column 1'],
  ])('%j → %s', async (text, expected) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(await jsonSyntaxError(text, { disallowComments: true })).toBe(expected);
  });
});

describe('readLines()', () => {
  async function linesOf(pieces: string[]): Promise<Array<[number, string]>> {
    const found: Array<[number, string]> = [];
    const source = (async function* () {
      for (const piece of pieces) yield Buffer.from(piece);
    })();
    for await (const { where, bytes } of readLines(source)) {
      found.push([where.line ?? 0, Buffer.from(bytes).toString()]);
    }
    return found;
  }

  test('returns the same lines regardless of how the bytes are split', async () => {
    const unit = fc.constantFrom('a', 'ä', '\n', ' ');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit })), async (pieces) => {
        const wanted = pieces
          .join('')
          .split('\n')
          .map((line, index): [number, string] => [index + 1, line])
          .filter(([, line]) => line.trim() !== '');
        expect(await linesOf(pieces)).toEqual(wanted);
      }),
    );
  });

  test('a line over 32 MiB is reported and not held in memory', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const source = (async function* () {
      for (let count = 0; count < 33; count += 1) yield piece;
      yield Buffer.from('\nnext');
    })();
    const found = [];
    for await (const line of readLines(source)) found.push(line);
    expect(found.map(({ where, tooLong, bytes }) => [where, tooLong, bytes.length])).toEqual([
      [{ line: 1 }, true, 0],
      [{ line: 2 }, false, 4],
    ]);
  });
});

test('inOrder() pauses later jobs while an earlier job is slow, to limit the results in memory', async () => {
  const jobs = Array.from({ length: 100 }, (_, index) => index);
  const first = Promise.withResolvers<void>();
  const begun: number[] = [];
  const delivered: number[] = [];
  const work = async (index: number) => {
    begun.push(index);
    if (index === 0) await first.promise;
    return index;
  };
  const deliver = async (result: number) => void delivered.push(result);
  const all = inOrder(jobs, () => new Set(), work, deliver);
  for (let tick = 0; tick < 2_000; tick += 1) await Promise.resolve();
  expect([begun.length, delivered]).toEqual([16, []]);
  first.resolve();
  await all;
  expect(delivered).toEqual(jobs);
});

test('inOrder() delivers a result while the input is idle', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* waiting() {
    yield 1;
    await promise;
  }
  const work = async (index: number) => index;
  await inOrder(
    waiting(),
    () => new Set(),
    work,
    async () => resolve(),
  );
});
