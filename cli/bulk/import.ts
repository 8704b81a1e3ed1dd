import type { Memory, MemoryClient } from '../../sdk/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Chunk } from './chunks.ts';
import type { BatchInput } from './input.ts';
import { idOf, pairOf } from './records.ts';
import { type ReportOptions, sendLines } from './send-lines.ts';

/**
 * Imports every line of the input. A memory has its id, so a second run skips what is there by
 * itself; keys made from the content would also skip what was deleted since, and is wanted back.
 */
export async function runImport(
  term: Terminal,
  client: MemoryClient,
  input: BatchInput,
  options: ReportOptions & { idempotencyKey?: string | undefined },
): Promise<void> {
  const { idempotencyKey } = options;
  const tally = { imported: 0, skipped: 0 };
  const report = await sendLines(term, input, options, {
    chunks: {
      keyOf: (place) => (idempotencyKey === undefined ? undefined : `${idempotencyKey}:${place}`),
    },
    namesIn,
    post: (items, call) => client.import({ items: items as Memory[] }, call),
    count({ imported, skipped }) {
      tally.imported += imported;
      tally.skipped += skipped;
      return imported + skipped;
    },
  });
  await report.summary(tally);
  report.end();
}

/** Of two memories with one id, or of one thing in another system, the first is to win. */
function namesIn({ entries }: Chunk): Set<string> {
  const names = entries.flatMap((entry) => [idOf(entry), pairOf(entry)]);
  return new Set(names.filter((name) => name !== undefined));
}
