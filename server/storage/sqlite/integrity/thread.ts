import { workerData } from 'node:worker_threads';
import { announced, openInbox, parent, watched } from '../../../threads/serve.ts';
import { coarseFaults } from '../check.ts';
import { openForReading } from '../settings.ts';

/* Checks the file in a separate thread, because checking a large file can take hours. */

const { path } = workerData as { path: string };
const db = openForReading(path);
const inbox = openInbox(parent(), (call) => {
  try {
    // Reading a file of many gigabytes may take hours.
    call.reply(announced(() => coarseFaults(db), Number.POSITIVE_INFINITY));
  } catch (error) {
    call.fail(error);
  }
  inbox.flushReplies();
});
watched(() => db.close(true));
