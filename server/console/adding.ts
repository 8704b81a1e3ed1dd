import { exactNumber, holdsInexact, inexactNumber } from '../../sdk/contract/numbers.ts';
import type { IngestRecord, Memory, MemoryClient, SaveRequest } from '../../sdk/index.ts';

export type TextForm = 'memory' | 'document' | 'lines';
/** A text that somebody pasted, or a file with its name. A file that is not text has none. */
export type Given = { form: TextForm; name?: string; text: string | null };
/** What became of a text, or of a line. */
export type Result = { name: string; message: string; isBad: boolean; memoryId?: string };

type Item = { name: string; kind: Kind; value: object };
type Kind = keyof typeof senders;

/** Sends texts and lines in their order, and reports what became of each. Never throws. */
export async function send(
  client: MemoryClient,
  userId: string,
  given: readonly Given[],
  report: (results: Result[]) => void,
): Promise<void> {
  const items = given.flatMap((one) => itemsOf(one, userId));
  for (const group of groupsOf(items)) {
    const values = group.map(({ value }) => value);
    const kind = group[0]?.kind ?? 'bad';
    const outcomes = await senders[kind](client, values).catch((error) =>
      values.map(() => ({ message: String(error?.message ?? error), isBad: true })),
    );
    report(outcomes.map((outcome, at) => ({ name: group[at]?.name ?? '', ...outcome })));
  }
}

function itemsOf({ form, name, text }: Given, userId: string): Item[] {
  if (text === null) {
    return [{ name: name ?? '', kind: 'bad', value: { message: 'is not UTF-8 text' } }];
  }
  if (form === 'memory') return [{ name: 'text', kind: 'save', value: { userId, content: text } }];
  if (form === 'document') {
    const value = { userId, type: 'document', data: { text }, ...(name && { externalId: name }) };
    return [{ name: name ?? 'text', kind: 'ingest', value }];
  }
  return text.split('\n').flatMap((line, at) => {
    const numbered = `${name ?? ''} line ${at + 1}`.trim();
    return line.trim() === '' ? [] : [{ name: numbered, ...readLine(line, userId) }];
  });
}

/** The service checks every field itself, so that its messages are the ones that are shown. */
function readLine(line: string, userId: string): { kind: Kind; value: object } {
  try {
    const read = JSON.parse(line, exactNumber);
    if (holdsInexact(read)) return { kind: 'bad', value: { message: inexactNumber } };
    const value = { ...(userId !== '' && { userId }), ...Object(read) };
    if ('data' in value) return { kind: 'ingest', value };
    if ('createdAt' in value) return { kind: 'import', value };
    return { kind: 'save', value };
  } catch {
    return { kind: 'bad', value: { message: 'is not a JSON object' } };
  }
}

/** Requests stay small, so that a body limit of a proxy is no obstacle and progress is visible. */
const maxItems = 200;
const maxUnits = 500_000;

/** Items of one kind that follow each other are sent together, if the API can do that. */
function groupsOf(items: Item[]): Item[][] {
  const groups: Item[][] = [];
  let units = 0;
  for (const item of items) {
    const length = JSON.stringify(item.value).length;
    const group = groups.at(-1);
    const isAlike = group?.[0]?.kind === item.kind && item.kind !== 'save';
    if (group && isAlike && group.length < maxItems && units + length <= maxUnits) {
      group.push(item);
      units += length;
    } else {
      groups.push([item]);
      units = length;
    }
  }
  return groups;
}

type Outcome = Omit<Result, 'name'>;

const senders = {
  async save(client: MemoryClient, [value]: object[]): Promise<Outcome[]> {
    const { memoryId } = await client.save(value as SaveRequest);
    return [{ message: 'saved', isBad: false, memoryId }];
  },
  async ingest(client: MemoryClient, values: object[]): Promise<Outcome[]> {
    const { items, failed } = await client.ingest.batch({ items: values as IngestRecord[] });
    const ids = new Map(items.map(({ index, memoryId }) => [index, memoryId]));
    return outcomesOf(values, failed, 'queued', (index) => ids.get(index));
  },
  async import(client: MemoryClient, values: object[]): Promise<Outcome[]> {
    const memories = values as Memory[];
    const { failed } = await client.import({ items: memories });
    return outcomesOf(values, failed, 'imported, or already there', (at) => memories[at]?.id);
  },
  async bad(_: MemoryClient, values: object[]): Promise<Outcome[]> {
    return values.map((value) => ({ message: '', ...value, isBad: true }));
  },
};

function outcomesOf(
  values: object[],
  failed: readonly { index: number; message: string }[],
  message: string,
  idOf: (index: number) => string | undefined,
): Outcome[] {
  const reasons = new Map(failed.map((one) => [one.index, one.message]));
  return values.map((_, index) => {
    const reason = reasons.get(index);
    if (reason !== undefined) return { message: reason, isBad: true };
    const memoryId = idOf(index);
    return { message, isBad: false, ...(memoryId !== undefined && { memoryId }) };
  });
}
