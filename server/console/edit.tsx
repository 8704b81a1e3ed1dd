import { useState } from 'preact/hooks';
import { exactNumber, holdsInexact, inexactNumber } from '../../sdk/contract/numbers.ts';
import { type Memory, PreconditionFailedError, type UpdateRequest } from '../../sdk/index.ts';
import { messageOf } from './format.ts';
import { useAction } from './loading.ts';
import { Failure, Form, Input, TextArea } from './parts.tsx';
import type { Session } from './session.ts';

type EditProps = { session: Session; memory: Memory; onClose(): void };

/** In code points. */
const longestText = 65_536;

/** Changes the version of a memory that is shown, and no other one. */
export function Edit({ session, memory, onClose }: EditProps) {
  const [content, setContent] = useState(memory.content);
  const [metadata, setMetadata] = useState(JSON.stringify(memory.metadata, null, 2));
  const [occurredAt, setOccurredAt] = useState(memory.occurredAt ?? '');
  const [expiresAt, setExpiresAt] = useState(memory.expiresAt ?? '');
  const save = useAction(async () => {
    const given = { content, metadata: readMetadata(metadata), occurredAt, expiresAt };
    const changes = changesOf(memory, given);
    if (Object.keys(changes).length === 0) return;
    await session.client.update(memory.id, changes, { ifVersion: memory.version });
  });
  const [isLong] = useState(() => [...memory.content].length > longestText);
  async function submit(): Promise<void> {
    if (await save.run()) onClose();
  }
  return (
    <Form class="card" onSubmit={submit}>
      <TextArea
        label={isLong ? 'Text: too long to edit; ingest it again to change it' : 'Text'}
        required
        rows={8}
        disabled={isLong}
        value={content}
        onValue={setContent}
      />
      <TextArea
        label="Metadata, as JSON"
        class="code"
        rows={6}
        spellcheck={false}
        value={metadata}
        onValue={setMetadata}
      />
      <div class="row">
        <Input
          label="Occurred"
          placeholder="2026-05-08T13:56:07Z"
          value={occurredAt}
          onValue={setOccurredAt}
        />
        <Input label="Expires" placeholder="never" value={expiresAt} onValue={setExpiresAt} />
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
    </Form>
  );
}

function readMetadata(text: string): object {
  try {
    const metadata = JSON.parse(text, exactNumber);
    if (holdsInexact(metadata)) throw new Error(inexactNumber);
    return metadata;
  } catch (error) {
    throw new Error(`metadata: ${messageOf(error)}`);
  }
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
