import { useState } from 'preact/hooks';
import { type Given, type Result, send, type TextForm } from './adding.ts';
import { Field, Form, Input, Screen, Select, TextArea } from './parts.tsx';
import { hrefTo, route } from './router.ts';
import type { Session } from './session.ts';

const forms: Record<TextForm, string> = {
  memory: 'A memory: a short text, saved at once',
  document: 'A document: a long text, indexed in the background',
  lines: 'JSON Lines: one record or memory on each line',
};

/** Adds pasted text, or files, and shows what became of each. */
export function Add({ session }: { session: Session }) {
  const { key } = session;
  const [userId, setUserId] = useState(key.userId ?? route.value.query.user ?? '');
  const [form, setForm] = useState<TextForm>('memory');
  const [text, setText] = useState('');
  const [results, setResults] = useState<Result[]>([]);
  const [isRunning, setRunning] = useState(false);

  async function add(given: Given[]): Promise<void> {
    setRunning(true);
    setResults([]);
    await send(session.client, userId, given, (added) => setResults((all) => [...all, ...added]));
    setRunning(false);
  }

  async function addFiles(files: FileList | null | undefined): Promise<void> {
    await add(await Promise.all([...(files ?? [])].map(givenBy)));
  }

  return (
    <Screen title="Add memories">
      <Form
        class="card"
        onSubmit={() => add([{ form, text }])}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          addFiles(event.dataTransfer?.files);
        }}
      >
        <div class="row">
          <Input
            label={form === 'lines' ? 'User of lines without one' : 'User'}
            required={form !== 'lines'}
            maxLength={256}
            value={userId}
            disabled={key.userId !== null}
            onValue={setUserId}
          />
          <Select
            label="What it is"
            value={form}
            options={forms}
            onValue={(value) => setForm(value as TextForm)}
          />
        </div>
        <TextArea
          label="Text"
          required
          rows={8}
          class={form === 'lines' ? 'code' : ''}
          placeholder={form === 'lines' ? '{"type": "event", "data": {"name": "signed up"}}' : ''}
          value={text}
          onValue={setText}
        />
        <div class="buttons">
          <Field label="Or choose files, or drop them here: text, or .jsonl">
            <input type="file" multiple onChange={(event) => addFiles(event.currentTarget.files)} />
          </Field>
          <button type="submit" class="primary" disabled={isRunning}>
            Add
          </button>
        </div>
      </Form>
      <Results of={results} isRunning={isRunning} />
    </Screen>
  );
}

async function givenBy(file: File): Promise<Given> {
  const form = /\.(?:jsonl|ndjson)$/i.test(file.name) ? 'lines' : 'document';
  return { form, name: file.name, text: textIn(await file.arrayBuffer()) };
}

/** `file.text()` would replace what is not UTF-8. */
function textIn(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

const maxShown = 500;

function Results({ of: results, isRunning }: { of: Result[]; isRunning: boolean }) {
  const bad = results.filter(({ isBad }) => isBad);
  const shown = [...bad, ...results.filter(({ isBad }) => !isBad)].slice(0, maxShown);
  const [done, failed] = [results.length - bad.length, bad.length].map((count) =>
    count.toLocaleString('en'),
  );
  return (
    <section aria-label="Results" aria-busy={isRunning}>
      <p role="status">
        {(results.length > 0 || isRunning) && `${done} added, ${failed} failed`}
        {isRunning && ' so far'}
      </p>
      {results.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Result</th>
              <th scope="col">Memory</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, memoryId, message, isBad }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class={isBad ? 'failed' : ''}>{message}</td>
                <td class="id">
                  {memoryId !== undefined && (
                    <a href={hrefTo(['memories', memoryId])}>{memoryId}</a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {results.length > maxShown && <p class="summary">The first {maxShown} are shown.</p>}
    </section>
  );
}
