import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from '../support/folder.ts';
import { withMemory } from './command.ts';

/* Tests of files in another encoding, and of compressed data. */

const { memory } = await withMemory();

const record = JSON.stringify({ type: 'event', userId: 'u', data: { name: 'x' } });
const text = `${record}\n${record}\n`;
const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
const kinds: Array<[string, Uint8Array]> = [
  ['UTF-16', utf16],
  ['UTF-16BE', Buffer.from(utf16).swap16()],
  ['gzip', Bun.gzipSync(Buffer.from(text))],
  // As ChatGPT exports data.
  ['ZIP', Buffer.from('PK\x03\x04\x14\0')],
  ['Latin-1', Buffer.from('"café": 1}', 'latin1')],
];
const problem = (name: string, file: string) =>
  `Error: ${name} is not UTF-8 text.\n` +
  `Decompress it, or convert it: iconv -f <charset> -t UTF-8 ${file}\n`;
const endpoints = [
  ...['ingest batch', 'import', 'import --from chatgpt --user u'],
  ...['ingest support', 'ingest chat', 'ingest record'],
];

for (const [kind, bytes] of kinds) {
  test(`${kind} is reported once per file, with a hint`, async () => {
    using folder = temporaryFolder();
    for (const name of ['in.jsonl', 'in.json']) {
      const file = folder.file(name);
      writeFileSync(file, bytes);
      for (const endpoint of endpoints) {
        const ran = await memory([...endpoint.split(' '), file]);
        expect(ran).toEqual({ code: 1, stdout: '', stderr: problem(file, file) });
      }
    }
  });

  test(`${kind} on stdin is reported`, async () => {
    const stdin = new Blob([bytes]).stream();
    const ran = await memory(['save', '--user', 'u', '-'], { stdin });
    expect(ran).toMatchObject({ code: 1, stderr: problem('The input', '<file>') });
  });
}

test('a record that is not UTF-8 is reported with a hint', async () => {
  using folder = temporaryFolder();
  const file = folder.file('in.json');
  writeFileSync(file, Buffer.from('{"userId":"u","data":{"name":"café"}}', 'latin1'));
  const ran = await memory(['ingest', 'record', file]);
  expect(ran).toEqual({ code: 1, stdout: '', stderr: problem(file, file) });
});
