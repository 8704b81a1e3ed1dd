import { MemoryClient, type SupportRequest } from 'memory-service-sdk';

/*
 * Syncs a help desk's tickets to the memories of the users who wrote them. Run this program from
 * cron as often as you like, and again after any failure. `source` and `externalId` identify a
 * ticket, so each ticket stays one memory with one id, and new comments update that memory.
 */

const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL
const source = 'helpdesk';

/** Sample data that stands in for the response of a help desk's API. */
const tickets = [
  ticket('1182', 'ada', 'Refund', ['user: Where is my refund?', 'agent: On its way.']),
  ticket('1183', 'ada', 'Dark mode', ['user: Please add a dark mode.']),
  ticket('1190', 'ben', 'Login', [
    'user: I cannot log in.',
    'agent: Try again now.',
    'user: Works!',
  ]),
];
type Ticket = ReturnType<typeof ticket>;

function ticket(id: string, requester: string, subject: string, thread: string[]) {
  return { id, requester, subject, thread, updatedAt: `2026-11-0${thread.length}T09:00:00Z` };
}

function recordOf({ id, requester, subject, thread }: Ticket): SupportRequest {
  const comments = thread.map((line) => {
    const [author = 'user', ...words] = line.split(': ');
    return { author, content: words.join(': ') };
  });
  return { userId: requester, source, externalId: id, data: { subject, comments } };
}

async function sync(one: Ticket) {
  // The same version of a ticket has the same key, so a repeated request is not processed again.
  const idempotencyKey = `${source}-${one.id}-${one.updatedAt}`;
  const sent = memory.ingest.support(recordOf(one), { idempotencyKey });
  const { data, response } = await sent.withResponse();
  // The memory may have been deleted since, for example because the user has left.
  if (!data.deleted) await memory.waitUntilComplete(data.memoryId);
  return response.idempotencyStatus === 'replayed' ? 'unchanged' : 'synced';
}

const outcomes = await Promise.all(tickets.map(sync));
const synced = outcomes.filter((outcome) => outcome === 'synced').length;
console.log(`${synced} synced, ${outcomes.length - synced} unchanged`);

for (const userId of new Set(tickets.map(({ requester }) => requester))) {
  const { items } = await memory.list({ userId, source });
  console.log(`${userId}: ${items.length} tickets`);
}
