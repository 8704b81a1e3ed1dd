/*
 * Measures how long one core takes to embed a question, a sentence and a long chunk with the
 * built-in model, and with the same model, also in int8, in onnxruntime. The two alternate.
 * Run: bun tests/bench/internals/embedding.ts <python with the packages of onnxruntime_times.py>
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { Encoder } from '../../../server/embeddings/encoder.ts';
import { WordPiece } from '../../../server/embeddings/wordpiece.ts';
import { openFiles } from '../../embeddings/files.ts';
import { median } from '../kit/numbers.ts';

const texts = {
  question: 'what food should I avoid for her?',
  sentence:
    'I moved from Berlin to Lisbon last spring, because of the weather and the new job there',
  chunk: 'The ferry to the island leaves at seven in the morning. '.repeat(18),
};
const rounds = 100;
const warmUpRounds = 20;

const [, , python = 'python3'] = process.argv;
const { weights, module, vocabulary } = openFiles(
  join(import.meta.dir, '../../../server/embeddings'),
);
const encoder = new Encoder(weights, module);
const tokenizer = new WordPiece(vocabulary);
const other = Bun.spawn([python, join(import.meta.dir, 'onnxruntime_times.py')], {
  stdin: 'pipe',
  stdout: 'pipe',
});
const lines = createInterface(Readable.fromWeb(other.stdout))[Symbol.asyncIterator]();

console.log('| text | tokens | built-in ms | onnxruntime ms | onnxruntime / built-in |');
console.log('|---|---|---|---|---|');
for (const [name, text] of Object.entries(texts)) {
  const { ids } = tokenizer.encode(text);
  const own: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    const begun = performance.now();
    encoder.encode(ids);
    const ownMs = performance.now() - begun;
    other.stdin.write(`${JSON.stringify(ids)}\n`);
    const theirMs = Number((await lines.next()).value);
    if (round < warmUpRounds) continue;
    own.push(ownMs);
    theirs.push(theirMs);
  }
  const figures = [median(own), median(theirs), median(theirs) / median(own)];
  const shown = figures.map((figure) => figure.toFixed(2));
  console.log(`| ${[name, ids.length, ...shown].join(' | ')} |`);
}
other.kill();
