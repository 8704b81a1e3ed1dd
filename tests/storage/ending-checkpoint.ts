import { onCalls, ownThread } from '../support/preloaded.ts';

/* Preloaded in each thread of a storage. The first checkpoint ends the checkpoint thread. */
if (ownThread === 'checkpoint') onCalls(() => process.exit(7));
