import { signal } from '@preact/signals';
import { type ApiKey, AuthenticationError, MemoryClient } from '../../sdk/index.ts';
import { messageOf } from './format.ts';
import { address, storedKey, storeKey } from './key.ts';
import { decode, replaceRoute } from './router.ts';

export type Session = { client: MemoryClient; apiKey: string; key: ApiKey };
export const session = signal<Session | null>(null);
/** Why there is no session, if there should be one. */
export const refusal = signal('');

export async function connect(apiKey: string): Promise<void> {
  refusal.value = '';
  const client = new MemoryClient({ apiKey, baseUrl: address });
  try {
    session.value = { client, apiKey, key: await client.key() };
    storeKey(apiKey);
  } catch (error) {
    if (error instanceof AuthenticationError) storeKey(null);
    refusal.value = messageOf(error);
  }
}

export function disconnect(reason = ''): void {
  storeKey(null);
  session.value = null;
  refusal.value = reason;
}

/** Uses the key of the link that `npm start` prints, or that of this tab. */
export async function resume(): Promise<void> {
  const apiKey = takeGivenKey() ?? storedKey();
  if (apiKey !== null) await connect(apiKey);
}

/** The link can also be opened in a tab that already shows the console. */
addEventListener('hashchange', () => {
  const given = takeGivenKey();
  if (given === null) return;
  disconnect();
  connect(given);
});

/** The key is removed from the address bar and the history before anything else happens. */
function takeGivenKey(): string | null {
  const [, given] = /^#key=(.+)$/.exec(decode(location.hash)) ?? [];
  if (given === undefined) return null;
  replaceRoute('#/');
  return given;
}
