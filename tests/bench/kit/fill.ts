import { postJson } from './client.ts';
import type { Dataset, Imported } from './dataset.ts';
import { startService } from './service.ts';
import type { Tree } from './trees.ts';

/** The maximum number of memories that the import endpoint accepts in one request. */
const perRequest = 1_000;
/** With two senders, one request is built while the service stores the other. */
const senders = 2;

/**
 * Fills a database through a running service, so that its contents are exactly what the service
 * stores. The import skips memories that exist already.
 */
export async function fill(
  folder: string,
  tree: Tree,
  database: string,
  dataset: Dataset,
): Promise<void> {
  const service = await startService(folder, { tree, database, env: { LOG_LEVEL: 'warn' } });
  try {
    await importDataset(service.url, dataset);
  } finally {
    await service.stop();
  }
}

/** Imports the memories in order, except that the requests of the two senders overlap. */
export async function importDataset(
  url: string,
  { count, memoryAt }: Dataset,
  key?: string,
): Promise<void> {
  let next = 0;
  async function send(): Promise<void> {
    while (next < count) {
      const from = next;
      next = Math.min(count, from + perRequest);
      const items: Imported[] = [];
      for (let at = from; at < next; at += 1) items.push(memoryAt(at));
      const text = await postJson(url, '/v1/import', { items }, key);
      const { failedCount } = JSON.parse(text) as { failedCount: number };
      if (failedCount > 0) throw new Error(`the import rejected ${failedCount} memories: ${text}`);
    }
  }
  await Promise.all(Array.from({ length: senders }, send));
}
