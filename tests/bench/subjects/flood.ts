/*
 * Load from a process of its own, flat out until it is ended.
 * Its argument: { url, kind: 'saves' | 'ingest' | 'both' }.
 */
import { type Load, load } from '../kit/load.ts';
import { batchBody, requestBytes, saves } from '../kit/requests.ts';

const { url, kind } = JSON.parse(process.argv[2] ?? '') as { url: string; kind: string };
const turnSeconds = 5;
const perBatch = 100;
const batches = 50;

const loads: Omit<Load, 'seconds'>[] = [];
if (kind !== 'ingest') loads.push({ url, connections: 64, next: saves() });
if (kind !== 'saves') loads.push({ url, connections: 4, next: ingests() });

function ingests(): () => Uint8Array {
  const made = Array.from({ length: batches }, (_, at) =>
    requestBytes('POST', '/v1/ingest/batch', batchBody(at * perBatch, perBatch)),
  );
  let at = 0;
  return () => {
    at = (at + 1) % made.length;
    return made[at] ?? new Uint8Array();
  };
}

async function run(one: Omit<Load, 'seconds'>): Promise<never> {
  for (;;) {
    try {
      await load({ ...one, seconds: turnSeconds });
    } catch (error) {
      // The queue takes so many and no more: wait until some are done.
      if (!String(error).includes(' 429 ')) throw error;
      await Bun.sleep(100);
    }
  }
}

console.log('{}');
await Promise.all(loads.map(run));
