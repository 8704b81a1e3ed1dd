import type { FoundMemory } from '../../sdk/index.ts';

/** Returns the snippet with each highlight between « and ». */
export function marked({ snippet, highlights }: Pick<FoundMemory, 'snippet' | 'highlights'>) {
  const characters = [...snippet];
  let at = 0;
  const parts = highlights.map(({ start, end }) => {
    const before = characters.slice(at, start).join('');
    at = end;
    return `${before}«${characters.slice(start, end).join('')}»`;
  });
  return parts.join('') + characters.slice(at).join('');
}
