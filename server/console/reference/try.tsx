import { useState } from 'preact/hooks';
import { address, storedKey } from '../key.ts';
import { useAction } from '../loading.ts';
import { Failure, Field, Form, Input, TextArea } from '../parts.tsx';
import { type Described, examplesOf, type Parameter, type Resolve } from './document.ts';

type Answer = { status: string; headers: string; body: string };
type Values = Record<string, string>;

/** A form that sends a request with the reader's own key. */
export function Try({ operation, resolve }: { operation: Described; resolve: Resolve }) {
  const { method, parameters, operationId } = operation;
  const examples = examplesOf(operation.body, resolve);
  const [values, setValues] = useState<Values>({});
  const [body, setBody] = useState(examples[0] ?? '');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const sending = useAction(async () => setAnswer(await send(operation, values, body)));
  return (
    <Form class="card" onSubmit={sending.run} aria-label={`Try ${operationId}`}>
      <div class="row">
        {parameters.map((parameter) => (
          <Input
            key={parameter.name}
            label={isFilter(parameter) ? 'metadata, as key=value' : parameter.name}
            placeholder={exampleOf(parameter)}
            value={values[parameter.name] ?? ''}
            onValue={(value) => setValues((all) => ({ ...all, [parameter.name]: value }))}
          />
        ))}
      </div>
      {examples.length > 1 && (
        <Field label="Example">
          <select onChange={(event) => setBody(examples[Number(event.currentTarget.value)] ?? '')}>
            {examples.map((example, at) => (
              <option key={example} value={at}>
                {at + 1}
              </option>
            ))}
          </select>
        </Field>
      )}
      {operation.body !== null && (
        <TextArea
          label="Body"
          class="code"
          rows={8}
          spellcheck={false}
          value={body}
          onValue={setBody}
        />
      )}
      <div class="buttons">
        <button
          type="submit"
          class={method === 'DELETE' ? 'danger' : 'primary'}
          disabled={sending.isRunning}
        >
          Send the request
        </button>
      </div>
      <Failure error={sending.error} />
      <div role="status" class="parts">
        {answer !== null && (
          <>
            <strong>{answer.status}</strong>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard */}
            <pre tabIndex={0}>{[answer.headers, answer.body].join('\n\n').trim()}</pre>
          </>
        )}
      </div>
    </Form>
  );
}

const isFilter = ({ name, in: location }: Parameter) => name === 'metadata' && location === 'query';

function exampleOf(parameter: Parameter): string {
  const { example = '' } = parameter;
  if (!isFilter(parameter)) return String(example);
  return Object.entries(Object(example))
    .map((pair) => pair.join('='))
    .join();
}

async function send(operation: Described, values: Values, body: string): Promise<Answer> {
  const headers = new Headers();
  const query = new URLSearchParams();
  let { path } = operation;
  for (const { name, in: location } of operation.parameters) {
    const value = values[name] ?? '';
    if (location === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (value === '') continue;
    else if (location === 'header') headers.set(name, value);
    else query.append(...pairOf(name, value));
  }
  const apiKey = storedKey();
  if (apiKey !== null) headers.set('authorization', `Bearer ${apiKey}`);
  if (operation.body !== null) headers.set('content-type', 'application/json');
  const init = { method: operation.method, headers };
  const response = await fetch(
    `${address}${path}${query.size === 0 ? '' : `?${query}`}`,
    operation.body === null ? init : { ...init, body },
  );
  return {
    status: `${response.status} ${response.statusText}`,
    headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
    body: formatted(await response.text()),
  };
}

/** A filter by metadata is written `metadata[key]=value`. */
function pairOf(name: string, value: string): [name: string, value: string] {
  const [, key, inner] = /^([^=]+)=(.*)$/.exec(value) ?? [];
  return name === 'metadata' && key !== undefined
    ? [`metadata[${key}]`, inner ?? '']
    : [name, value];
}

function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
