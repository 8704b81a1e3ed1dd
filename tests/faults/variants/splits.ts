import type { Passage } from '../../../server/storage/storage.ts';

export type Index = (content: string, metadata: string) => Passage[] | Promise<Passage[]>;

/** Words in a record's text that the poisoned worker stumbles over. */
export const throwsOn = 'poison: throw';
export const exitsOn = 'poison: exit';

const fineLength = 4;
const workMs = 2;
const slowMs = 1;

/** Many short passages: a text of a few kilobytes is stored in several steps. */
export function splitFine(content: string): Passage[] {
  const passages: Passage[] = [];
  for (let start = 0; start < content.length; start += fineLength) {
    const length = Math.min(fineLength, content.length - start);
    passages.push({ start, length, folded: '' });
  }
  return passages;
}

/** Takes its time over each text, throws for some and ends the process for others. */
export function poisoned(inner: Index): Index {
  return (content, metadata) => {
    Bun.sleepSync(workMs);
    if (content.includes(throwsOn)) throw new Error('poisoned');
    if (content.includes(exitsOn)) process.kill(process.pid, 'SIGKILL');
    return inner(content, metadata);
  };
}

export function slowed(inner: Index): Index {
  return (content, metadata) => {
    Bun.sleepSync(slowMs);
    return inner(content, metadata);
  };
}
