import { join } from 'node:path';
import { createRawInsert } from './internals/raw-insert.ts';
import type { Benchmark } from './kit/benchmark.ts';
import { ingestBatches, waitForMemory, waitForQueue } from './kit/client.ts';
import { atLeast } from './kit/goals.ts';
import { median, ratioOf, short } from './kit/numbers.ts';
import type { Subject } from './kit/process.ts';
import { inTurn } from './kit/rounds.ts';
import { startService } from './kit/service.ts';

const perBatch = 1_000;
const senders = 4;

const rawNote =
  'The raw insert copies the memories that the service has stored into a new database with the ' +
  'same schema. It reads them from the service’s file before the measurement. It does not render ' +
  'records, split or tokenize text, or create tasks, and it is a single process that does ' +
  'nothing else.';

type Ingested = { acceptedMs: number; completeMs: number };

/** Compares batch ingest, until every record is complete, with a bulk insert of the same rows. */
export const ingest: Benchmark = {
  ids: ['S5'],
  title: 'Batch ingest',
  async run({ folder, rounds, quick, current, baseline }) {
    const count = quick ? 10_000 : 40_000;
    const database = join(folder, 'ingest.db');
    const service = await startService(folder, { tree: current, database });
    const older = await startService(folder, {
      tree: baseline,
      database: join(folder, 'ingest-old.db'),
    });
    const raw = createRawInsert(database, join(folder, 'ingest-raw.db'), perBatch);
    const measure = ({ url }: Subject) => {
      let from = -count;
      return () => {
        from += count;
        return ingestAll(url, from, count);
      };
    };
    const measured = await inTurn(rounds, {
      service: measure(service),
      raw: async () => ({ acceptedMs: 0, completeMs: await raw.insertNew() }),
      baseline: measure(older),
    });
    raw.close();
    return section(measured, count);
  },
};

async function ingestAll(url: string, from: number, count: number): Promise<Ingested> {
  const begun = performance.now();
  const last = await ingestBatches([url], { from, count, perBatch, senders });
  const acceptedMs = performance.now() - begun;
  await waitForMemory(url, last);
  await waitForQueue(url);
  return { acceptedMs, completeMs: performance.now() - begun };
}

function section(measured: Record<'service' | 'raw' | 'baseline', Ingested[]>, count: number) {
  const complete = (name: keyof typeof measured) =>
    measured[name].map(({ completeMs }) => completeMs);
  const accepted = (name: keyof typeof measured) =>
    measured[name].map(({ acceptedMs }) => acceptedMs);
  const rate = (times: number[]) => short((count / median(times)) * 1_000);
  const rows = [
    ['raw bulk insert of the same rows, 1,000 per transaction, FULL', '', rate(complete('raw'))],
    ['the service', rate(accepted('service')), rate(complete('service'))],
    ['the baseline', rate(accepted('baseline')), rate(complete('baseline'))],
  ];
  // The figures are times, so the raw insert's time is the numerator. A ratio of 0.5 means half
  // the speed of the raw insert.
  const ratio = ratioOf(complete('raw'), complete('service'));
  const baseline = ratioOf(complete('raw'), complete('baseline'));
  const measure = 'batch ingest to `complete`: relative to raw bulk insert of the same rows';
  return {
    goals: [atLeast('S5', measure, ratio, 0.5, { baseline })],
    tables: [
      {
        title: `${count.toLocaleString('en-US')} documents of 100 bytes in batches of 1,000 from ${senders} senders`,
        head: ['', 'accepted per second', 'complete per second'],
        rows,
      },
    ],
    notes: [rawNote],
  };
}
