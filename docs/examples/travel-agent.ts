import { setTimeout } from 'node:timers/promises';
import { MemoryClient } from 'memory-service-sdk';

/*
 * An agent whose memories have a name, a time and an expiry. `understand` is a stand-in for a model
 * that extracts facts from a message. A later fact replaces an earlier one with the same name.
 */

const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL
const userId = process.argv[2] ?? 'traveler';
const source = 'travel-agent';
const checkout = new Date(Date.now() + 3_000);

function understand(message: string) {
  const [, diet, month] = /(vegetarian|vegan) since (\w+)/.exec(message) ?? [];
  if (diet) return { externalId: 'diet', content: `Is ${diet}`, occurredAt: `2026-${month}-01` };
  return { externalId: 'hotel', content: 'Stays in room 12 in Rome', expiresAt: checkout };
}

async function hear(message: string): Promise<void> {
  console.log(`user:  ${message}`);
  const fact = understand(message.replace('May', '05').replace('September', '09'));
  const { version } = await memory.save({ userId, source, ...fact });
  console.log(`agent: ${version === 1 ? 'I will remember that.' : 'I have changed that.'}`);
}

async function recall(): Promise<void> {
  for await (const { content, occurredAt, expiresAt } of memory.list({ userId, source })) {
    const since = occurredAt === null ? '' : `, since ${occurredAt.slice(0, 10)}`;
    console.log(`knows: ${content}${since}${expiresAt === null ? '' : ', until checkout'}`);
  }
}

// Deletes only this example's memories, so that the example can be run again.
for await (const { id } of memory.list({ userId, source })) await memory.delete(id);
for (const message of ['I have been vegetarian since May.', 'Room 12 in Rome is ours until noon.'])
  await hear(message);
await recall();
await hear('I have been vegan since September.');
await setTimeout(checkout.getTime() - Date.now() + 50);
await recall();
