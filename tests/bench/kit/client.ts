import { batchBody, benchKey } from './requests.ts';

/*
 * Single requests that set up a benchmark or wait for queued work. The load generators send the
 * measured requests.
 */

/** More frequent polls would cost the service too much CPU time. */
const pollMs = 20;

export async function fetchText(url: string, path: string, key = benchKey): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  return textOf(response, path);
}

export async function postJson(
  url: string,
  path: string,
  body: unknown,
  key = benchKey,
): Promise<string> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return textOf(response, path);
}

async function textOf(response: Response, path: string): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

type Page = { items: { id: string }[]; nextCursor: string | null };

export async function fetchPage(url: string, query: Record<string, string>): Promise<Page> {
  return JSON.parse(await fetchText(url, listPath(query))) as Page;
}

export function listPath(query: Record<string, string>): string {
  return `/v1/memories?${new URLSearchParams(query)}`;
}

/**
 * Waits until the memory is processed. The queue is processed oldest first, so records accepted
 * long before this memory are complete by then. Polling the length of a long queue would cost more.
 */
export async function waitForMemory(url: string, id: string): Promise<void> {
  for (;;) {
    const text = await fetchText(url, `/v1/memories/${id}/status`);
    const { status } = JSON.parse(text) as { status: string };
    if (status === 'complete') return;
    if (status !== 'processing') throw new Error(`${id} became ${status}`);
    await Bun.sleep(pollMs);
  }
}

export async function waitForQueue(url: string): Promise<void> {
  for (;;) {
    const { pending } = JSON.parse(await fetchText(url, '/health')) as { pending: number };
    if (pending === 0) return;
    await Bun.sleep(pollMs);
  }
}

/** Ingests records from several senders. Resolves with the id of one of the last accepted ones. */
export async function ingestBatches(
  urls: readonly string[],
  { from, count, perBatch, senders }: Record<'from' | 'count' | 'perBatch' | 'senders', number>,
): Promise<string> {
  let sent = 0;
  let last = '';
  async function send(): Promise<void> {
    while (sent < count) {
      const body = batchBody(from + sent, perBatch);
      const url = urls[(sent / perBatch) % urls.length] ?? '';
      sent += perBatch;
      const text = await postJson(url, '/v1/ingest/batch', body);
      last = (JSON.parse(text) as { items: { memoryId: string }[] }).items.at(-1)?.memoryId ?? '';
    }
  }
  await Promise.all(Array.from({ length: senders }, send));
  return last;
}
