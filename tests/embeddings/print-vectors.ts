import { Encoder } from '../../server/embeddings/encoder.ts';
import { WordPiece } from '../../server/embeddings/wordpiece.ts';
import { openFiles } from './files.ts';

// Prints the vector of each argument after the first, the folder, in hexadecimal.
const [, , folder = '', ...texts] = process.argv;
const { weights, vocabulary, module } = openFiles(folder);
const tokenizer = new WordPiece(vocabulary);
const encoder = new Encoder(weights, module);
for (const text of texts) {
  const vector = encoder.encode(tokenizer.encode(text).ids);
  console.log(Buffer.from(vector.buffer).toString('hex'));
}
