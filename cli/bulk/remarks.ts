import { memoriesOf, quoted } from '../terminal/text.ts';
import type { Unit } from './records.ts';

type Sent = { accepted: number; replayed: number; failed: number; memories: number };

/** Explains the counts of a batch where they need it, one remark per line. */
export function remarksOn(
  { accepted, replayed, failed, memories }: Sent,
  unit: Unit,
  { wait, errorsOut }: { wait?: true | undefined; errorsOut?: string | undefined },
): string[] {
  const sent = accepted + replayed;
  const isMerged = wait === true && memories < sent;
  return [
    ...(sent === replayed && replayed > 0 && failed === 0 ? nothingNew(replayed, unit) : []),
    ...(isMerged ? [`${sent} records are ${memoriesOf(memories)}: ${lastWins}`] : []),
    ...(failed > 0 ? [howToCorrect(errorsOut)] : []),
  ];
}

const lastWins = 'the last of one externalId replaces the others.';

function nothingNew(replayed: number, unit: Unit): string[] {
  const all = replayed === 1 ? `the one ${unit}` : `all ${replayed} ${unit}s`;
  return [
    `Nothing new: an earlier run has ingested ${all}.`,
    'They are recognized for three days by their text and position, or by the given',
    'key, even if their memories were changed or deleted since.',
    'To ingest them again: --idempotency-key <any new text>',
  ];
}

/** Sending the whole corrected file again would duplicate the lines in the chunks that changed. */
function howToCorrect(errorsOut: string | undefined): string {
  if (errorsOut === undefined) {
    return 'Correct those lines in a file of their own, and ingest that file, not this one again.';
  }
  return `Take those lines: jq -r .text ${quoted(errorsOut)} > corrected.jsonl
Correct them there, and ingest that file, not this one again.`;
}
