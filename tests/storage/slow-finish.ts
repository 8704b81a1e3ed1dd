import { existsSync, writeFileSync } from 'node:fs';
import { databasePath, onCalls } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. Stops the writer before it finishes a checkpoint, until
 * the test removes a file next to the database.
 */
const maxMs = 60_000;

onCalls((json) => {
  if (!json.includes('"finishCheckpoint"')) return;
  const finishing = `${databasePath()}.finishing`;
  writeFileSync(finishing, '');
  const begun = performance.now();
  while (existsSync(finishing) && performance.now() - begun < maxMs) Bun.sleepSync(10);
});
