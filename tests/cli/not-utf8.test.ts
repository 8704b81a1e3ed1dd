import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { withProject } from '../support/server.ts';
import { memoryAt, temporaryFolder } from './command.ts';

/* Tests of files in another encoding, and of compressed data. */

const server = await withProject();
const memory = memoryAt(server);

const record = JSON.stringify({ type: 'event', userId: 'u', data: { name: 'x' } });
const text = `${record}\n${record}\n`;
const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
const kinds: Array<[string, Uint8Array, string, (file: string) => string]> = [
  ['UTF-16', utf16, 'is UTF-16, not UTF-8 text', (file) => `iconv -f UTF-16 -t UTF-8 ${file}`],
  [
    'UTF-16BE',
    Buffer.from(utf16).swap16(),
    'is UTF-16, not UTF-8 text',
    (file) => `iconv -f UTF-16 -t UTF-8 ${file}`,
  ],
  [
    'gzip',
    Bun.gzipSync(Buffer.from(text)),
    'is compressed with gzip',
    (file) => `gunzip -c ${file} | memory … -`,
  ],
  // As ChatGPT exports data.
  ['ZIP', Buffer.from('PK\x03\x04\x14\0'), 'is a ZIP archive', (file) => `unzip ${file}`],
];
const endpoints = [
  ['ingest', 'batch'],
  ['import'],
  ['import', '--from', 'chatgpt', '--user', 'u'],
  ['ingest', 'support'],
  ['ingest', 'chat'],
  ['ingest', 'record'],
];

for (const [kind, bytes, what, how] of kinds) {
  test(`${kind} is reported once per file, with a hint`, async () => {
    using folder = temporaryFolder();
    for (const name of ['in.jsonl', 'in.json']) {
      const file = folder.file(name);
      writeFileSync(file, bytes);
      for (const endpoint of endpoints) {
        const { code, stdout, stderr } = await memory([...endpoint, file]);
        expect(stderr).toStartWith(`Error: ${file} ${what}.\n`);
        expect(stderr).toEndWith(`: ${how(file)}\n`);
        expect(stderr.split('\n')).toHaveLength(3);
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      }
    }
  });

  test(`${kind} on stdin is reported even if the first byte arrives alone`, async () => {
    const stdin = new ReadableStream({
      start(stream) {
        for (const piece of [bytes.subarray(0, 1), bytes.subarray(1)]) stream.enqueue(piece);
        stream.close();
      },
    });
    const { code, stderr } = await memory(['save', '--user', 'u', '-'], { stdin });
    expect(stderr).toStartWith(`Error: The input ${what}.\n`);
    expect(stderr).toEndWith(`: ${how('<file>')}\n`);
    expect(code).toBe(1);
  });
}

test('text that is not UTF-8 is reported with a command that converts it', async () => {
  using folder = temporaryFolder();
  const file = folder.file('in.json');
  const bytes = Buffer.from('{"userId":"u","data":{"name":"café"}}', 'latin1');
  writeFileSync(file, bytes);
  const hint = (name: string) =>
    `If it is Windows-1252, convert it with: iconv -f WINDOWS-1252 -t UTF-8 ${name}\n`;
  expect(await memory(['ingest', 'record', file])).toEqual({
    code: 1,
    stdout: '',
    stderr: `Error: ${file} is not UTF-8 text.\n${hint(file)}`,
  });
  const { stderr } = await memory(['save', '--user', 'u', '-'], {
    stdin: new Blob([bytes]).stream(),
  });
  expect(stderr).toBe(`Error: The input is not UTF-8 text.\n${hint('<file>')}`);
});
