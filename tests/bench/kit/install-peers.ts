import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const peersFolder = join(import.meta.dir, '../peers');
const lastWritten = join(peersFolder, 'node_modules/.package-lock.json');

/**
 * Installs the peers from their own lockfile, because they are not dependencies of the product.
 * Resolves with null, or with npm's output if npm failed.
 */
export async function install(say: (text: string) => void): Promise<string | null> {
  if (existsSync(lastWritten)) return null;
  say('  installing the servers to compare with (only once; takes about a minute)');
  const command = ['npm', 'ci', '--no-audit', '--no-fund', '--prefix', peersFolder];
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const errors = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? null : errors;
}
