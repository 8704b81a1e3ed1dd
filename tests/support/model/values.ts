import fc from 'fast-check';
import type { MemoryStatus } from '../../../sdk/contract/memory.ts';
import type { Answer } from './command.ts';
import type { Known, Model } from './model.ts';

/* The values of commands. Numbers select memories, which are known when a command runs. */

export const words = ['lantern', 'harbour', 'zeppelin', 'walrus', 'kettle', 'invoice'];
export const users = ['ada', 'Ada', 'ж'];
export const nth = fc.nat({ max: 30 });
export const status = fc.constantFrom<MemoryStatus>('complete', 'processing', 'failed');
export const metadata = fc.dictionary(fc.constantFrom('k', 'ü'), fc.constantFrom('v', '語'), {
  maxKeys: 2,
});

export function idOf({ ids, memories }: Model, n: number): string {
  const from = [...(n % 4 === 0 ? ids : memories.keys())];
  return from[n % Math.max(1, from.length)] ?? 'mem_none';
}

/** Applies `act` to the memory if it exists with the expected version. */
export function onMemory(
  { memories }: Model,
  id: string,
  version: number | undefined,
  act: (known: Known) => unknown,
): Answer {
  const known = memories.get(id);
  if (known === undefined) return { error: 'not_found' };
  if (version !== undefined && version !== known.version) return { error: 'precondition_failed' };
  return { value: act(known) };
}
