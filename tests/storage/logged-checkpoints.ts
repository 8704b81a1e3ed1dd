import { appendFileSync } from 'node:fs';
import { databasePath, onCalls } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. Appends a byte to a file next to the database whenever the
 * checkpoint thread makes a checkpoint.
 */
onCalls((json) => {
  if (json.includes('"checkpoint"')) appendFileSync(`${databasePath()}.checkpoints`, '.');
});
