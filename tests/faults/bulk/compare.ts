import { existsSync, readFileSync } from 'node:fs';
import { MemoryClient } from '../../../sdk/index.ts';
import type { Violations } from '../harness.ts';
import type { Target } from '../target.ts';
import type { Ended } from './command.ts';
import type { BulkFile } from './file.ts';
import { type Owed, showOf } from './owed.ts';

export async function compareMemories({ url, key }: Target, owed: Owed, violations: Violations) {
  const left = new Map(owed.counts);
  const found = { stored: 0, lost: 0, unexpected: 0, incomplete: 0 };
  const client = new MemoryClient({ baseUrl: url, apiKey: key });
  for await (const memory of client.export()) {
    found.stored += 1;
    if (memory.status !== 'complete') found.incomplete += 1;
    const shown = showOf(memory);
    const count = left.get(shown) ?? 0;
    if (count === 0) found.unexpected += 1;
    else if (count === 1) left.delete(shown);
    else left.set(shown, count - 1);
  }
  for (const count of left.values()) found.lost += count;
  if (found.lost > 0) violations.add(`${found.lost} records are missing`);
  if (found.unexpected > 0) {
    violations.add(`${found.unexpected} memories are duplicates or match no record`);
  }
  if (found.incomplete > 0) violations.add(`${found.incomplete} memories are not complete`);
  return found;
}

/** Checks the counts and the bad lines that the last run reported. */
export function compareReport(
  { code, stderr }: Ended,
  errorsOut: string,
  { good, bad }: BulkFile,
  violations: Violations,
) {
  const counts = Object.fromEntries(
    [...stderr.matchAll(/(\d+) (accepted|unchanged|replayed|failed)\b/g)].map(([, count, name]) => [
      name,
      Number(count),
    ]),
  ) as Record<string, number>;
  const { unchanged = 0, replayed = 0, failed = 0 } = counts;
  const accepted = (counts.accepted ?? 0) + unchanged;
  if (code !== (bad.size > 0 ? 1 : 0))
    violations.add(`the command exited with code ${code}: ${stderr}`);
  if (accepted + replayed !== good) {
    violations.add(
      `${accepted} accepted and ${replayed} replayed records, expected ${good} in total`,
    );
  }
  if (failed !== bad.size) violations.add(`${failed} lines failed, expected ${bad.size}`);
  const reported = readErrors(errorsOut);
  const wrong = reported.filter(({ line, error }) => bad.get(line) !== error).length;
  if (wrong > 0) violations.add(`${wrong} reported lines are valid or have a different error`);
  const numbers = new Set(reported.map(({ line }) => line));
  if (numbers.size !== bad.size || reported.length !== bad.size) {
    violations.add(`${reported.length} invalid lines were reported, expected ${bad.size}`);
  }
  return { accepted, replayed, failed };
}

export function readErrors(errorsOut: string): { line: number; error: string }[] {
  if (!existsSync(errorsOut)) return [];
  const whole = readFileSync(errorsOut, 'utf8').split('\n').slice(0, -1);
  return whole.map((text) => JSON.parse(text));
}
