import { benchKey } from './requests.ts';

/** Looking costs the service a little, so not too often. */
const lookEveryMs = 20;

const headers = { authorization: `Bearer ${benchKey}` };

/** One answer's text, for setting up; what is measured goes over the load generator. */
export async function ask(url: string, path: string): Promise<string> {
  const response = await fetch(url + path, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

type Status = { status: string };

type Page = { items: { id: string }[]; nextCursor: string | null };

export async function askPage(url: string, query: Record<string, string>): Promise<Page> {
  return JSON.parse(await ask(url, listPath(query))) as Page;
}

export function listPath(query: Record<string, string>): string {
  return `/v1/memories?${new URLSearchParams(query)}`;
}

/** Waits until the memory is processed. A queue takes the oldest first, so all that was accepted
 * long before it is, too; counting a long queue, which is the other way to know, costs more. */
export async function completed(url: string, id: string): Promise<void> {
  for (;;) {
    const { status } = JSON.parse(await ask(url, `/v1/memories/${id}/status`)) as Status;
    if (status === 'complete') return;
    if (status !== 'processing') throw new Error(`${id} became ${status}`);
    await Bun.sleep(lookEveryMs);
  }
}

/** Waits until nothing waits in the queue. */
export async function processed(url: string): Promise<void> {
  for (;;) {
    const { pending } = JSON.parse(await ask(url, '/health')) as { pending: number };
    if (pending === 0) return;
    await Bun.sleep(lookEveryMs);
  }
}
