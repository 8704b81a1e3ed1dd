import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the built-in model, as Node.js and Bun read them. */
export function openFiles(folder: string) {
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, name)));
  return {
    weights: read('minilm/all-MiniLM-L6-v2.int8.safetensors'),
    vocabulary: readFileSync(join(folder, 'minilm/vocab.txt'), 'utf8'),
    module: read('kernel.wasm'),
  };
}
