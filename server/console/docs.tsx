import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { address, storedKey, storeKey } from './key.ts';
import { useLoaded } from './loading.ts';
import { Brand, Empty, Failure, Form, Input, Screen } from './parts.tsx';
import { type Reference, readDocument } from './reference/document.ts';
import { Operation, Prose } from './reference/operation.tsx';

/** The API reference, from the document that the service itself provides. */
function Page() {
  const { value, error } = useLoaded(readReference, []);
  return (
    <>
      <header>
        <Brand />
        <nav aria-label="Pages">
          <a href="console">Console</a>
          <a href="docs" aria-current="page">
            API reference
          </a>
        </nav>
        <Key />
      </header>
      <Screen title="API reference">
        <Failure error={error} />
        {value === null && error === null && <Empty>Loading…</Empty>}
        {value !== null && <Operations of={value} />}
      </Screen>
    </>
  );
}

async function readReference(signal: AbortSignal): Promise<Reference> {
  const response = await fetch(`${address}/openapi.json`, { signal });
  return readDocument(await response.json());
}

function Key() {
  const [apiKey, setApiKey] = useState(storedKey() ?? '');
  function change(value: string): void {
    setApiKey(value);
    storeKey(value.trim() || null);
  }
  return (
    <Form class="key">
      <Input
        label="API key for requests"
        type="password"
        autoComplete="off"
        value={apiKey}
        onValue={change}
      />
    </Form>
  );
}

function Operations({ of: { info, tags, operations, resolve } }: { of: Reference }) {
  // The browser looked for the target of the fragment before it was rendered.
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  return (
    <>
      <p>
        The reference of the document <a href="openapi.json">openapi.json</a>, version{' '}
        {info.version}.
      </p>
      <details class="operation">
        <summary>What holds for every request</summary>
        <div class="parts">
          {info.description.split('\n\n').map((block) => (
            <Block key={block} text={block} />
          ))}
        </div>
      </details>
      {tags.map((tag) => (
        <section key={tag.name} aria-labelledby={tag.name}>
          <h2 id={tag.name}>{tag.name}</h2>
          <p class="summary">
            <Prose text={tag.description} />
          </p>
          {operations
            .filter((operation) => operation.tags.includes(tag.name))
            .map((operation) => (
              <Operation key={operation.operationId} operation={operation} resolve={resolve} />
            ))}
        </section>
      ))}
    </>
  );
}

/** A paragraph, or a table whose first two lines are its head. */
function Block({ text }: { text: string }) {
  if (!text.startsWith('|')) {
    return (
      <p>
        <Prose text={text} />
      </p>
    );
  }
  const [head = '', , ...rows] = text.split('\n');
  const cellsOf = (row: string) => row.split('|').slice(1, -1);
  return (
    <table>
      <thead>
        <tr>
          {cellsOf(head).map((cell) => (
            <th key={cell} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            {cellsOf(row).map((cell) => (
              <td key={cell}>
                <Prose text={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const root = document.getElementById('page');
if (root !== null) render(<Page />, root);
