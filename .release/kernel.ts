import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';
import { root } from './staging.ts';

/*
 * Compiles server/embeddings/kernel.as with AssemblyScript, which npx fetches from a package
 * registry, and compares the result with kernel.wasm. With --write, replaces kernel.wasm and
 * kernel.sha256, by which `npm test` notices a source that was not compiled.
 */
const compiler = 'assemblyscript@0.28.20';
const options = ['-O3', '--runtime=stub', '--enable=simd', '--noAssert', '--importMemory'];

const folder = join(root, 'server/embeddings');
const temporary = await mkdtemp(join(tmpdir(), 'kernel-'));
try {
  await cp(join(folder, 'kernel.as'), join(temporary, 'kernel.ts'));
  await $`npx --yes --package ${compiler} asc kernel.ts ${options} --outFile kernel.wasm`.cwd(
    temporary,
  );
  const made = await readFile(join(temporary, 'kernel.wasm'));
  if (process.argv.includes('--write')) {
    await writeFile(join(folder, 'kernel.wasm'), made);
    await writeFile(join(folder, 'kernel.sha256'), await sums());
  } else if (!made.equals(await readFile(join(folder, 'kernel.wasm')))) {
    throw new Error('kernel.wasm differs from what kernel.as compiles to; run with --write');
  }
  console.log(`kernel.wasm, ${made.byteLength} bytes, is compiled from kernel.as`);
} finally {
  await rm(temporary, { recursive: true });
}

async function sums(): Promise<string> {
  const lines = ['kernel.as', 'kernel.wasm'].map(async (name) => {
    const content = await readFile(join(folder, name));
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  return (await Promise.all(lines)).join('');
}
