import { memoriesOf, quoted } from '../terminal/text.ts';
import type { Unit } from './records.ts';

type Sent = { accepted: number; replayed: number; failed: number; memories: number };

/** Returns remarks that explain the counts of a batch, one per line. */
export function remarksOn(
  { accepted, replayed, failed, memories }: Sent,
  unit: Unit,
  { wait, errorsOut }: { wait?: true | undefined; errorsOut?: string | undefined },
): string[] {
  const sent = accepted + replayed;
  const isMerged = wait === true && memories < sent;
  return [
    ...(sent === replayed && replayed > 0 && failed === 0 ? nothingNew(replayed, unit) : []),
    ...(isMerged ? [`${sent} records became ${memoriesOf(memories)}: ${lastWins}`] : []),
    ...(failed > 0 ? [howToCorrect(errorsOut)] : []),
  ];
}

const lastWins = 'of records with the same externalId, the last one is stored.';

function nothingNew(replayed: number, unit: Unit): string[] {
  const all = replayed === 1 ? `the one ${unit}` : `all ${replayed} ${unit}s`;
  return [
    `Nothing new: an earlier run ingested ${all}.`,
    'They are recognized for three days by their text and position, or by the given',
    'key, even if their memories have since been changed or deleted.',
    'To ingest them again: --idempotency-key <a new key>',
  ];
}

/** Suggests a new file: sending the whole corrected file again would duplicate other lines. */
function howToCorrect(errorsOut: string | undefined): string {
  if (errorsOut === undefined) {
    return 'Copy these lines to a new file, correct them, and ingest only the new file.';
  }
  return `Extract these lines: jq -r .text ${quoted(errorsOut)} > corrected.jsonl
Correct them there, and ingest only the new file.`;
}
