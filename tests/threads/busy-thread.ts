import { readFileSync } from 'node:fs';
import type { Port } from '../../server/threads/channel.ts';
import { openInbox, parent, watched, yieldPriority } from '../../server/threads/serve.ts';

/* A thread of low priority. A call uses as much CPU time, in ms, as its argument says. */

function usedMs(): number {
  const [ns] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(ns) / 1e6;
}

yieldPriority();
const inbox = openInbox(parent() as Port, ({ argument, reply }) => {
  const end = usedMs() + Number(argument);
  while (usedMs() < end);
  reply(null);
  inbox.flushReplies();
});
watched(() => {});
