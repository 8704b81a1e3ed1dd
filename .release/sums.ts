import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes checksums in the format of `sha256sum --check`. */
export async function writeChecksums(dist: string): Promise<void> {
  const names = (await readdir(dist)).sort();
  const lines = await Promise.all(
    names.map(async (name) => `${await sha256(join(dist, name))}  ${name}\n`),
  );
  await writeFile(join(dist, 'SHA256SUMS'), lines.join(''));
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

export async function sizeOf(path: string): Promise<string> {
  const { size } = await stat(path);
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} KB` : `${(size / 1e6).toFixed(1)} MB`;
}
