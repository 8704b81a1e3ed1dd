import { useState } from 'preact/hooks';
import type { Memory } from '../../sdk/index.ts';
import { Edit } from './edit.tsx';
import { useLoaded } from './loading.ts';
import { Confirm, Copy, Empty, Facts, Failure, Screen, Status, Time } from './parts.tsx';
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
        <Confirm
          title="Delete this memory?"
          verb="Delete"
          write={() => client.delete(id, { ifVersion: value.version })}
          onClose={() => setDoing(null)}
          onDone={() => {
            location.hash = hrefTo(['users', value.userId]);
          }}
        >
          <p>It is deleted permanently.</p>
        </Confirm>
      )}
    </Screen>
  );
}

const shownUnits = 50_000;

function Details({ session, memory }: { session: Session; memory: Memory }) {
  const [isWhole, setWhole] = useState(false);
  const { content, userId, type, status, source, externalId, version } = memory;
  const isCut = !isWhole && content.length > shownUnits;
  const metadata = Object.entries(memory.metadata).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>];
  });
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
      <Facts
        class="details"
        of={{
          User: <a href={hrefTo(['users', userId])}>{userId}</a>,
          Type: type,
          Status: status === 'complete' ? status : <Status of={status} />,
          Source: source ?? '–',
          'External id': externalId ?? '–',
          Version: version,
          Occurred: <Time at={memory.occurredAt} />,
          Expires: <Time at={memory.expiresAt} />,
          Created: <Time at={memory.createdAt} />,
          Updated: <Time at={memory.updatedAt} />,
        }}
      />
      {metadata.length > 0 && (
        <section aria-labelledby="metadata">
          <h2 id="metadata">Metadata</h2>
          <Facts class="details" of={Object.fromEntries(metadata)} />
        </section>
      )}
      <Json of={memory} />
    </>
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
