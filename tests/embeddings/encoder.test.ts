import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encoder } from '../../server/embeddings/encoder.ts';
import { createVectorScan, packVector } from '../../server/embeddings/vector.ts';
import { WordPiece } from '../../server/embeddings/wordpiece.ts';
import { openFiles } from './files.ts';
import golden from './tokens.json';

const server = join(import.meta.dir, '../../server/embeddings');
const { weights, module, vocabulary } = openFiles(server);
const tokenizer = new WordPiece(vocabulary);
const encoder = new Encoder(weights, module);
const embed = (text: string) => encoder.encode(tokenizer.encode(text).ids);

/** The example of the model's card, with the similarities of its float32 weights. */
const happy = 'That is a happy person';
const card: [string, number][] = [
  ['That is a happy dog', 0.6946],
  ['That is a very happy person', 0.9429],
  ['Today is a sunny day', 0.2569],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'encoder-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.each(golden)('tokens of %j', ({ text, ids }) => {
  expect(tokenizer.encode(text).ids).toEqual(ids);
});

test('the names of special tokens in a text are text', () => {
  const { ids } = tokenizer.encode('[SEP] [CLS]');
  expect(ids.slice(1, -1)).not.toContain(ids[0]);
  expect(ids.slice(1, -1)).not.toContain(ids.at(-1));
});

test('unknown words are counted', () => {
  expect(tokenizer.encode('😀 happy 😀')).toMatchObject({ unknown: 2 });
});

test('a vocabulary without its last line break is read to its end, and a cut one is refused', () => {
  const trimmed = new WordPiece(vocabulary.trimEnd());
  expect(trimmed.encode(happy)).toEqual(tokenizer.encode(happy));
  expect(() => new WordPiece(vocabulary.slice(0, 100))).toThrow('the vocabulary lacks [CLS]');
});

test.each(card)('similarity with %j is that of the card, within .005', (text, similarity) => {
  expect(Math.abs(dot(embed(happy), embed(text)) - similarity)).toBeLessThan(0.005);
});

test('a vector has length 1, and its stored form keeps the similarities', () => {
  const query = embed(happy);
  expect(dot(query, query)).toBeCloseTo(1, 6);
  const texts = [happy, ...card.map(([text]) => text)];
  const stored = texts.map((text) => packVector(embed(text)));
  const scales = stored.map(({ buffer }) => new DataView(buffer).getFloat32(0, true));
  const data = stored.flatMap(({ buffer }) => [...new Int8Array(buffer, 4)]);
  // 1,025 copies: more than one block, and an odd number.
  const copies = 1_025;
  const table = {
    count: copies * 4 - 1,
    scales: Float32Array.from({ length: copies * 4 }, (_, row) => scales[row % 4] ?? 0),
    data: Int8Array.from({ length: copies * 4 * 384 }, (_, at) => data[at % (4 * 384)] ?? 0),
  };
  const found = createVectorScan(module, 384).dotProducts(query, [table]);
  const expected = texts.map((text) => dot(query, embed(text)));
  found.forEach((similarity, row) => {
    expect(Math.abs(similarity - (expected[row % 4] ?? Number.NaN))).toBeLessThan(0.005);
  });
});

test('a text encoded between two steps of another changes neither', () => {
  const alone = [embed('Lives in Lisbon, works from a boat'), embed('where does she live?')];
  const steps = encoder.encodeInSteps(tokenizer.encode('Lives in Lisbon, works from a boat').ids);
  const found: Float32Array[] = [];
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      expect([step.value, found[0]]).toEqual(alone);
      break;
    }
    found.push(embed('where does she live?'));
  }
  expect(found).toHaveLength(6);
});

test.each([0, 1_000, 20_000_000])('a file cut to %i bytes is refused', (bytes) => {
  expect(() => new Encoder(weights.slice(0, bytes), module)).toThrow();
});

test('Node.js computes the same bits', async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, 'print-vectors.ts')],
    target: 'node',
    outdir: folder,
  });
  expect(built.success).toBe(true);
  const texts = golden.map(({ text }) => text).slice(0, 12);
  const node = Bun.spawnSync(['node', join(folder, 'print-vectors.js'), server, ...texts]);
  const expected = texts.map((text) => Buffer.from(embed(text).buffer).toString('hex'));
  expect(node.stdout.toString().trim().split('\n')).toEqual(expected);
});

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
