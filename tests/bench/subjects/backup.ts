/* Backups one after the other, until it is told to stop. Its argument: { databaseUrl, folder }. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { backup } from '../../../server/admin.ts';

const { databaseUrl, folder } = JSON.parse(process.argv[2] ?? '') as {
  databaseUrl: string;
  folder: string;
};
let stopping = false;
process.on('SIGTERM', () => {
  stopping = true;
});
console.log('{}');
while (!stopping) {
  const target = join(folder, `${crypto.randomUUID()}.backup`);
  await backup(databaseUrl, target);
  rmSync(target, { force: true });
  await Bun.sleep(1);
}
