import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Port } from '../../server/threads/channel.ts';
import { openInbox, parent, watched } from '../../server/threads/serve.ts';

/* A thread of the lowest priority. A call uses as much CPU time, in ms, as its argument says. */

function usedMs(): number {
  const [ns] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(ns) / 1e6;
}

// On Linux, this sets the priority of the calling thread.
setPriority(constants.priority.PRIORITY_LOW);
const inbox = openInbox(parent() as Port, ({ argument, reply }) => {
  const end = usedMs() + Number(argument);
  while (usedMs() < end);
  reply(null);
  inbox.flushReplies();
});
watched(() => {});
