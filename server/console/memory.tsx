import { useState } from 'preact/hooks';
import { type Memory, PreconditionFailedError, type UpdateRequest } from '../../sdk/index.ts';
import { useAction, useLoaded } from './loading.ts';
import { Confirm, Copy, Empty, Failure, Field, Screen, Status, Time } from './parts.tsx';
import { hrefTo } from './router.ts';
import type { Session } from './session.ts';

type Props = { session: Session; id: string };

export function OneMemory({ session, id }: Props) {
  const { client, key } = session;
  const memory = useLoaded((signal) => client.get(id, { signal }), [client, id]);
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const { value } = memory;
  const aside = value !== null && !key.readOnly && doing !== 'edit' && (
    <div class="buttons">
      <button type="button" onClick={() => setDoing('edit')}>
        Edit
      </button>
      <button type="button" class="danger" onClick={() => setDoing('delete')}>
        Delete
      </button>
    </div>
  );
  return (
    <Screen title="Memory" aside={aside}>
      <p class="about">
        <code>{id}</code> <Copy text={id} of="the id" />
      </p>
      <Failure error={memory.error} />
      {value === null && memory.isLoading && <Empty>Loading…</Empty>}
      {value !== null && doing === 'edit' && (
        <Edit
          session={session}
          memory={value}
          onClose={() => {
            setDoing(null);
            memory.reload();
          }}
        />
      )}
      {value !== null && doing !== 'edit' && <Details session={session} memory={value} />}
      {value !== null && doing === 'delete' && (
        <Delete session={session} memory={value} onClose={() => setDoing(null)} />
      )}
    </Screen>
  );
}

type MemoryProps = { session: Session; memory: Memory };

const shownUnits = 50_000;

function Details({ session, memory }: MemoryProps) {
  const [isWhole, setWhole] = useState(false);
  const { content, userId, type, status, source, externalId, version } = memory;
  const isCut = !isWhole && content.length > shownUnits;
  const metadata = Object.entries(memory.metadata);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls by keyboard */}
      <pre class="content" tabIndex={0}>
        {isCut ? content.slice(0, shownUnits) : content}
      </pre>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {content.length.toLocaleString('en')} characters
        </button>
      )}
      {status !== 'complete' && <Processing session={session} id={memory.id} />}
      <dl class="details">
        <Detail name="User">
          <a href={hrefTo(['users', userId])}>{userId}</a>
        </Detail>
        <Detail name="Type">{type}</Detail>
        <Detail name="Status">
          <Status of={status} />
          {status === 'complete' && status}
        </Detail>
        <Detail name="Source">{source ?? '–'}</Detail>
        <Detail name="External id">{externalId ?? '–'}</Detail>
        <Detail name="Version">{version}</Detail>
        <Detail name="Occurred">
          <Time at={memory.occurredAt} />
        </Detail>
        <Detail name="Expires">
          <Time at={memory.expiresAt} />
        </Detail>
        <Detail name="Created">
          <Time at={memory.createdAt} />
        </Detail>
        <Detail name="Updated">
          <Time at={memory.updatedAt} />
        </Detail>
      </dl>
      {metadata.length > 0 && (
        <section aria-labelledby="metadata">
          <h2 id="metadata">Metadata</h2>
          <dl class="details">
            {metadata.map(([name, value]) => (
              <Detail key={name} name={name}>
                {typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>}
              </Detail>
            ))}
          </dl>
        </section>
      )}
      <Json of={memory} />
    </>
  );
}

function Detail({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Json({ of: memory }: { of: Memory }) {
  const [isOpen, setOpen] = useState(false);
  const text = isOpen ? JSON.stringify(memory, null, 2) : '';
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>JSON</summary>
      <Copy text={text} of="the JSON" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

/** Why a memory is not complete. */
function Processing({ session: { client }, id }: Props) {
  const { value } = useLoaded((signal) => client.status(id, { signal }), [client, id]);
  if (value === null) return null;
  const { status, attempts, errorMessage, chunksComplete, chunksTotal } = value;
  return (
    <p class={status === 'failed' ? 'failure' : 'notice'}>
      {status === 'failed' ? 'Processing failed' : 'Processing'}, attempt {attempts}
      {chunksTotal > 0 && `, ${chunksComplete} of ${chunksTotal} chunks`}.{' '}
      {errorMessage !== null && errorMessage}
    </p>
  );
}

const longestText = 65_536;

function Edit({ session, memory, onClose }: MemoryProps & { onClose(): void }) {
  const [content, setContent] = useState(memory.content);
  const [metadata, setMetadata] = useState(JSON.stringify(memory.metadata, null, 2));
  const [occurredAt, setOccurredAt] = useState(memory.occurredAt ?? '');
  const [expiresAt, setExpiresAt] = useState(memory.expiresAt ?? '');
  const save = useAction(async () => {
    const given = { content, metadata: JSON.parse(metadata), occurredAt, expiresAt };
    const changes = changesOf(memory, given);
    if (Object.keys(changes).length === 0) return;
    await session.client.update(memory.id, changes, { ifVersion: memory.version });
  });
  const isLong = memory.content.length > longestText;
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (await save.run()) onClose();
  }
  return (
    <form class="card" onSubmit={submit}>
      <Field label={isLong ? 'Text: too long to edit; ingest it again to change it' : 'Text'}>
        <textarea
          required
          rows={8}
          disabled={isLong}
          value={content}
          onInput={(event) => setContent(event.currentTarget.value)}
        />
      </Field>
      <Field label="Metadata, as JSON">
        <textarea
          class="code"
          rows={6}
          spellcheck={false}
          value={metadata}
          onInput={(event) => setMetadata(event.currentTarget.value)}
        />
      </Field>
      <div class="row">
        <Field label="Occurred">
          <input
            placeholder="2026-05-08T13:56:07Z"
            value={occurredAt}
            onInput={(event) => setOccurredAt(event.currentTarget.value)}
          />
        </Field>
        <Field label="Expires">
          <input
            placeholder="never"
            value={expiresAt}
            onInput={(event) => setExpiresAt(event.currentTarget.value)}
          />
        </Field>
      </div>
      <Failure error={save.error} />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {save.error instanceof PreconditionFailedError ? 'Discard and load again' : 'Cancel'}
        </button>
        <button type="submit" class="primary" disabled={save.isRunning}>
          Save
        </button>
      </div>
    </form>
  );
}

type Given = { content: string; metadata: object; occurredAt: string; expiresAt: string };

/** Only the fields that were changed. An empty time clears the time. */
function changesOf(memory: Memory, { content, metadata, ...times }: Given): UpdateRequest {
  const { occurredAt, expiresAt } = times;
  return {
    ...(content !== memory.content && { content }),
    ...(JSON.stringify(metadata) !== JSON.stringify(memory.metadata) && { metadata }),
    ...(occurredAt !== (memory.occurredAt ?? '') && { occurredAt: occurredAt || null }),
    ...(expiresAt !== (memory.expiresAt ?? '') && { expiresAt: expiresAt || null }),
  };
}

function Delete({ session: { client }, memory, onClose }: MemoryProps & { onClose(): void }) {
  const { id, version, userId } = memory;
  const action = useAction(() => client.delete(id, { ifVersion: version }));
  function showUser(): void {
    location.hash = hrefTo(['users', userId]);
  }
  return (
    <Confirm
      title="Delete this memory?"
      verb="Delete"
      action={action}
      onClose={onClose}
      onDone={showUser}
    >
      <p>It is deleted permanently.</p>
    </Confirm>
  );
}
