import { useEffect, useState } from 'preact/hooks';
import type {
  FilterFields,
  FoundMemory,
  Memory,
  MemoryClient,
  SearchAnswer,
} from '../../sdk/index.ts';
import { Filters, filtersOf } from './filters.tsx';
import { countText, excerptOf } from './format.ts';
import { useAction, useLoaded, usePages } from './loading.ts';
import { Empty, Failure, Form, Input, Listing, Name, Screen, Status, Time } from './parts.tsx';
import { hrefTo, replaceQuery, route } from './router.ts';
import type { Session } from './session.ts';

type UserProps = { session: Session; userId: string };

/** The memories of a user: the newest, or what a search finds. */
export function Memories({ session, userId }: UserProps) {
  const { query } = route.value;
  const settled = useSettled(query);
  const { text = '' } = settled;
  const Shown = text.trim() === '' ? Newest : Found;
  const download = useAction(() => exportAll(session.client, userId));
  const aside = (
    <div class="buttons">
      <button type="button" disabled={download.isRunning} onClick={download.run}>
        Export
      </button>
      {!session.key.readOnly && <a href={hrefTo(['add'], { user: userId })}>Add</a>}
    </div>
  );
  return (
    <Screen title={userId} aside={aside}>
      <Failure error={download.error} />
      <search>
        <Form class="tools">
          <Input
            label="Search"
            type="search"
            maxLength={1_000}
            placeholder="Words or a question"
            value={query.text ?? ''}
            onValue={(text) => replaceQuery({ text })}
          />
          <Filters query={query} />
        </Form>
      </search>
      <Shown session={session} userId={userId} text={text} filters={filtersOf(settled)} />
    </Screen>
  );
}

/** Downloads all memories of a user as JSON Lines, as `memory export` prints them. */
async function exportAll(client: MemoryClient, userId: string): Promise<void> {
  const lines: string[] = [];
  for await (const memory of client.export({ userId })) lines.push(`${JSON.stringify(memory)}\n`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines));
  link.download = `${userId}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Follows the query with a short delay, so that not every letter is a request. */
function useSettled(query: Record<string, string>): Record<string, string> {
  const [settled, setSettled] = useState(query);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), 120);
    return () => clearTimeout(timer);
  }, [query]);
  return settled;
}

type ShownProps = UserProps & { text: string; filters: FilterFields };

function Newest({ session: { client }, userId, filters }: ShownProps) {
  const memories = usePages(
    (cursor, signal) => client.list({ userId, limit: 50, cursor, ...filters }, { signal }),
    [client, userId, JSON.stringify(filters)],
  );
  const hasFilters = Object.keys(filters).length > 0;
  return (
    <Listing of={memories}>
      <ol class="memories">
        {memories.value?.items.map((memory) => (
          <Row key={memory.id} memory={memory}>
            {excerptOf(memory.content)}
          </Row>
        ))}
      </ol>
      {memories.value?.items.length === 0 && (
        <Empty>
          {hasFilters ? 'No memory matches the filters.' : 'This user has no memories.'}
        </Empty>
      )}
    </Listing>
  );
}

const mostFound = 20;

/** A search has no count of all matches. */
function foundText(count: number): string {
  if (count < mostFound) return countText(count, 'match', 'matches');
  return `The ${mostFound} best matches`;
}

function Found({ session: { client }, userId, text, filters }: ShownProps) {
  const found = useLoaded(
    async (signal) => {
      const begin = performance.now();
      const query = { userId, query: text, limit: mostFound, explain: true, ...filters };
      const answer = await client.search(query, { signal });
      return { ...answer, milliseconds: performance.now() - begin };
    },
    [client, userId, text, JSON.stringify(filters)],
  );
  const best = found.value?.items[0]?.score ?? 1;
  return (
    <Listing of={found}>
      <p class="summary">
        {foundText(found.value?.items.length ?? 0)} in {found.value?.milliseconds.toFixed(0)} ms.{' '}
        {found.value && meanings[found.value.meaning]}
      </p>
      <ol class="memories">
        {found.value?.items.map((memory) => (
          <Row key={memory.id} memory={memory} why={<Why of={memory} best={best} />}>
            {markedSnippet(memory)}
          </Row>
        ))}
      </ol>
    </Listing>
  );
}

const meanings: Record<SearchAnswer['meaning'], string> = {
  used: 'By words and by meaning.',
  partial: 'By words, and by the meaning of the memories that have been embedded so far.',
  off: 'By words only.',
  unavailable: 'By words only, because the model is unavailable.',
};

type RowProps = {
  memory: Memory;
  why?: preact.ComponentChildren;
  children: preact.ComponentChildren;
};

function Row({ memory, why, children }: RowProps) {
  const { id, type, status, source, occurredAt, createdAt } = memory;
  return (
    <li>
      <a href={hrefTo(['memories', id])}>
        <Name of={memory} />
        {children}
      </a>
      <p class="about">
        <Time at={occurredAt ?? createdAt} />
        {type !== 'memory' && <span class="tag">{type}</span>}
        <Status of={status} />
        {source !== null && <span>{source}</span>}
      </p>
      {why}
    </li>
  );
}

/** Highlights are counted in code points. */
function markedSnippet({ snippet, highlights }: FoundMemory) {
  const points = [...snippet];
  const textOf = (start: number, end?: number) => points.slice(start, end).join('');
  let shown = 0;
  const parts = highlights.flatMap(({ start, end }) => {
    const before = textOf(shown, start);
    shown = end;
    return [before, <mark key={start}>{textOf(start, end)}</mark>];
  });
  return [...parts, textOf(shown)];
}

const partNames = ['words', 'phrase', 'date', 'meaning'] as const;

/** The parts of a score, as text and as a bar, which is full for the best score. */
function Why({ of: { score, parts }, best }: { of: FoundMemory; best: number }) {
  if (parts === undefined) return null;
  const given = partNames.filter((name) => parts[name] > 0);
  const starts = given.map((_, at) =>
    given.slice(0, at).reduce((sum, name) => sum + parts[name], 0),
  );
  return (
    <p class="why">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {given.map((name, at) => (
          <rect
            key={name}
            class={name}
            x={((starts[at] ?? 0) / best) * 100}
            width={(parts[name] / best) * 100}
            height="6"
          />
        ))}
      </svg>
      <span>score {score.toFixed(3)}</span>
      {given.map((name) => (
        <span key={name} class={name}>
          {name} {parts[name].toFixed(3)}
        </span>
      ))}
    </p>
  );
}
