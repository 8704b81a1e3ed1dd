import { useState } from 'preact/hooks';
import type { Task, TaskStatus } from '../../sdk/index.ts';
import { countText, excerptOf } from './format.ts';
import { useAction, useEvery, usePages } from './loading.ts';
import { Confirm, Empty, Failure, Listing, Name, Screen, Select, Time } from './parts.tsx';
import { hrefTo, replaceQuery, route } from './router.ts';
import type { Session } from './session.ts';

const pageSize = 50;

/** The records that are waiting, being processed, or have failed. */
export function Queue({ session }: { session: Session }) {
  const status: TaskStatus = route.value.query.status === 'failed' ? 'failed' : 'processing';
  const [deleted, setDeleted] = useState<Task | null>(null);
  const tasks = usePages(
    (cursor, signal) => session.client.tasks({ status, limit: pageSize, cursor }, { signal }),
    [session, status],
  );
  const { value } = tasks;
  useEvery(3_000, () => (value?.items.length ?? 0) <= pageSize && tasks.reload());
  return (
    <Screen title="Queue">
      <div class="tools">
        <Select
          label="Show"
          value={status}
          options={{ processing: 'Waiting and running', failed: 'Failed' }}
          onValue={(status) => replaceQuery({ status })}
        />
      </div>
      <Listing of={tasks}>
        {value !== null && value.items.length > 0 && (
          <ol class="memories">
            {value.items.map((task) => (
              <Row
                key={task.id}
                session={session}
                task={task}
                onChange={tasks.reload}
                onDelete={() => setDeleted(task)}
              />
            ))}
          </ol>
        )}
        {value?.items.length === 0 && (
          <Empty>{status === 'failed' ? 'No record has failed.' : 'The queue is empty.'}</Empty>
        )}
      </Listing>
      {deleted !== null && (
        <Confirm
          title="Delete this record?"
          verb="Delete"
          write={() => session.client.delete(deleted.id)}
          onClose={() => setDeleted(null)}
          onDone={tasks.reload}
        >
          <p>The memory of {deleted.userId} is deleted permanently, and leaves the queue.</p>
        </Confirm>
      )}
    </Screen>
  );
}

type RowProps = { session: Session; task: Task; onChange(): void; onDelete(): void };

function Row({ session, task, onChange, onDelete }: RowProps) {
  const { id, userId, type, attempts, errorMessage, updatedAt, content } = task;
  const verb = isWhole(task) ? 'Ingest again' : 'Keep as it is';
  const again = useAction(() => retry(session, task));
  async function run(): Promise<void> {
    if (await again.run()) onChange();
  }
  return (
    <li>
      <a href={hrefTo(['memories', id])}>
        <Name of={task} />
        {excerptOf(content)}
      </a>
      <p class="about">
        <Time at={updatedAt} />
        <span class="tag">{type}</span>
        <a href={hrefTo(['users', userId])}>{userId}</a>
      </p>
      {errorMessage !== null && <p class="failure">{errorMessage}</p>}
      <Failure error={again.error} />
      <p class="about task">
        {countText(attempts, 'attempt')}
        {!session.key.readOnly && (
          <>
            {task.status === 'failed' && (
              <button
                type="button"
                disabled={again.isRunning}
                onClick={run}
                aria-label={`${verb} ${id}`}
              >
                {verb}
              </button>
            )}
            <button type="button" class="danger" onClick={onDelete} aria-label={`Delete ${id}`}>
              Delete
            </button>
          </>
        )}
      </p>
    </li>
  );
}

/**
 * The service keeps the text of a record, but not the record. Only a document is its own text, and
 * only with an external id does it replace itself.
 */
function isWhole({ type, externalId }: Task): boolean {
  return type === 'document' && externalId !== null;
}

function retry({ client }: Session, task: Task): Promise<unknown> {
  const { id, userId, source, externalId, metadata, occurredAt, expiresAt, content } = task;
  // Any update completes a memory, so that a search finds it.
  if (!isWhole(task)) return client.update(id, { metadata });
  const names = { userId, source, externalId };
  const data = { text: content };
  return client.ingest.document({ ...names, metadata, occurredAt, expiresAt, data });
}
