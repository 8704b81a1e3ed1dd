import { MemoryClient } from 'memory-service-sdk';

/*
 * A chat agent that remembers. It searches the user's memories before it answers, and saves what
 * users say about themselves. `think` is a stand-in for a model: it receives the content of a
 * prompt (the message and the known facts) and returns the reply and, optionally, a fact to
 * remember.
 */

const memory = new MemoryClient(); // MEMORY_API_KEY and MEMORY_BASE_URL

type Thought = { reply: string; remember?: string };

function think(message: string, known: string[]): Thought {
  const aboutMe = /^(?:I am|I'm|My|I prefer|I moved)\b/i.test(message);
  if (aboutMe) return { reply: 'I will remember that.', remember: message };
  const [best] = known;
  return { reply: best === undefined ? 'You never told me.' : `You told me: ${best}` };
}

async function answer(userId: string, message: string): Promise<string> {
  const query = [...message].slice(-1_000).join(''); // The longest query has 1,000 characters.
  const { items } = await memory.search({ userId, query, limit: 3 });
  const known = items.map(({ content }) => content);
  const { reply, remember } = think(message, known);
  if (remember !== undefined && !known.includes(remember)) {
    await memory.save({ userId, content: remember, source: 'chat' });
  }
  return reply;
}

async function converse(userId: string, messages: string[]): Promise<void> {
  for (const message of messages) {
    console.log(`user:  ${message}`);
    console.log(`agent: ${await answer(userId, message)}`);
  }
}

const userId = process.argv[2] ?? 'ada';
await converse(userId, ['I am allergic to peanuts.', 'My sister lives in Lisbon.']);

// The next day, in another process, only the saved memories of the conversation remain.
console.log('\nThe next day');
await converse(userId, ['Where does my sister live?', 'Which food am I allergic to?']);
console.log('\nAnother user');
await converse(`${userId}-stranger`, ['Where does my sister live?']);
