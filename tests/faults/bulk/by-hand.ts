import { type IngestRecord, MemoryClient } from '../../../sdk/index.ts';

/*
 *   bun tests/faults/bulk/by-hand.ts <file.jsonl> <records per request> <concurrent requests>
 *
 * A minimal program that ingests a file with the SDK. The program does not keep idempotency keys
 * across runs, does not report bad lines, and holds the whole file in memory. It reads the address
 * and the API key from the environment.
 */
export async function sendAll(
  memory: MemoryClient,
  records: IngestRecord[],
  size: number,
  atOnce: number,
): Promise<void> {
  let next = 0;
  async function sendSome(): Promise<void> {
    while (next < records.length) {
      const items = records.slice(next, next + size);
      next += size;
      const { failedCount } = await memory.ingest.batch({ items });
      if (failedCount > 0) throw new Error(`${failedCount} records were rejected`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome));
}

if (import.meta.main) {
  const [path = '', size, atOnce] = process.argv.slice(2);
  const lines = (await Bun.file(path).text()).split('\n').filter((line) => line.trim() !== '');
  const records = lines.map((line): IngestRecord => JSON.parse(line));
  await sendAll(new MemoryClient(), records, Number(size), Number(atOnce));
}
