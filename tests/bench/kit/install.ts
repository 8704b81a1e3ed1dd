import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const rivalsFolder = join(import.meta.dir, '../rivals');
const last = join(rivalsFolder, 'node_modules/.package-lock.json');

/** Whether the rivals are there; they are no part of the product and not installed with it. */
export function areInstalled(): boolean {
  return existsSync(last);
}

/** Installs exactly what their lockfile says. Null where it works, else what npm said. */
export async function install(): Promise<string | null> {
  if (areInstalled()) return null;
  const command = ['npm', 'ci', '--no-audit', '--no-fund', '--prefix', rivalsFolder];
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  return (await child.exited) === 0 ? null : said;
}
