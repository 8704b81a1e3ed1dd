import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { completed, processed } from './kit/ask.ts';
import type { Benchmark } from './kit/benchmark.ts';
import { createCopy } from './kit/copy.ts';
import { atLeast } from './kit/goals.ts';
import { median, ratioOf, short } from './kit/numbers.ts';
import { serviceEnv, startSubject } from './kit/process.ts';
import { batchBody, benchKey } from './kit/requests.ts';
import { inTurn } from './kit/rounds.ts';

const perBatch = 1_000;
const senders = 4;

type Accepted = { items: { memoryId: string }[] };

const rawNote =
  'The raw insert puts the memories and passages that the service stored, read back from its ' +
  'file beforehand, into the same schema. It renders no record, cuts and folds no text, ' +
  'makes no job, and is one process with nothing else to do.';

/** Batches accepted and processed to the end, beside the same rows put into a database at once. */
export const ingest: Benchmark = {
  ids: ['S5'],
  title: 'Batch ingest',
  async run({ folder, rounds, quick }) {
    const count = quick ? 4_000 : 40_000;
    const path = join(folder, 'ingest.db');
    const databaseUrl = `sqlite:${path}`;
    const service = await startSubject('service', folder, { databaseUrl, env: serviceEnv });
    const beside = new Database(path, { readonly: true });
    const copy = createCopy(beside, join(folder, 'ingest-raw.db'));
    const accepted: number[] = [];
    let sent = 0;
    const measured = await inTurn(rounds, {
      service: async () => {
        const begun = performance.now();
        const last = await sendAll(service.url, sent, count);
        accepted.push(performance.now() - begun);
        sent += count;
        await completed(service.url, last);
        await processed(service.url);
        return performance.now() - begun;
      },
      // The rows are read beforehand: only putting them in is measured.
      raw: () => copy.insertNew(perBatch),
    });
    beside.close();
    copy.close();
    await service.stop();
    return section(measured, accepted.slice(1), count);
  },
};

/** Resolves with the id of a record that was among the last to be accepted. */
async function sendAll(url: string, from: number, count: number): Promise<string> {
  let next = from;
  let last = '';
  async function sendSome(): Promise<void> {
    while (next < from + count) {
      const first = next;
      next += perBatch;
      const response = await fetch(`${url}/v1/ingest/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${benchKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(batchBody(first, perBatch)),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`a batch was refused: ${text}`);
      last = (JSON.parse(text) as Accepted).items.at(-1)?.memoryId ?? '';
    }
  }
  await Promise.all(Array.from({ length: senders }, sendSome));
  return last;
}

function section(
  measured: { service: number[]; raw: number[] },
  accepted: number[],
  count: number,
) {
  // Times, so the raw insert stands above: half as fast is a ratio of 0.5.
  const ratio = ratioOf(measured.raw, measured.service);
  const rate = (times: number[]) => short((count / median(times)) * 1_000);
  const rows = [
    ['raw bulk insert of the same rows, 1,000 a transaction, FULL', rate(measured.raw)],
    ['batches of 1,000: accepted', rate(accepted)],
    ['batches of 1,000: accepted and processed', rate(measured.service)],
  ];
  const measure = 'batch ingest to `complete`, of raw bulk insert of the same rows';
  return {
    goals: [atLeast('S5', measure, ratio, 0.5)],
    tables: [
      {
        title: `${count.toLocaleString('en-US')} documents of 100 bytes a turn, ${senders} senders`,
        head: ['work', 'rows a second'],
        rows,
      },
    ],
    notes: [rawNote],
  };
}
