import { useState } from 'preact/hooks';
import {
  type Described,
  examplesOf,
  fieldsOf,
  type Resolve,
  type Schema,
  typeOf,
} from './document.ts';
import { Try } from './try.tsx';

type OperationProps = { operation: Described; resolve: Resolve };

/** An operation. Its details are rendered when they are opened. */
export function Operation({ operation, resolve }: OperationProps) {
  const { method, path, summary, operationId } = operation;
  const [isOpen, setOpen] = useState(location.hash === `#${operationId}`);
  return (
    <details
      id={operationId}
      class="operation"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>{' '}
        <span>{summary}</span>
      </summary>
      {isOpen && <Details operation={operation} resolve={resolve} />}
    </details>
  );
}

function Details({ operation, resolve }: OperationProps) {
  const { description, parameters, body, responses, summary } = operation;
  const rows = parameters.map((parameter) => ({
    name: parameter.name,
    type: [parameter.in, parameter.schema && typeOf(parameter.schema, resolve)].join(': '),
    isRequired: parameter.required ?? false,
    description: parameter.description ?? '',
  }));
  return (
    <div class="parts">
      <p>
        <Prose text={description} />
      </p>
      {rows.length > 0 && <Fields caption={`Parameters: ${summary}`} rows={rows} />}
      {body !== null && <Body schema={body} name={`Body: ${summary}`} resolve={resolve} />}
      <Try operation={operation} resolve={resolve} />
      <table>
        <caption>Responses: {summary}</caption>
        <tbody>
          {responses.map(({ status, description, body }) => (
            <tr key={status}>
              <th scope="row" class="status">
                {status}
              </th>
              <td>
                <Prose text={description} />
                {body !== null && (
                  <Body schema={body} name={`Body of a ${status}`} resolve={resolve} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type BodyProps = { schema: Schema; name: string; resolve: Resolve };

/** The fields of a body, or of each of its alternatives, and an example. */
function Body({ schema, name, resolve }: BodyProps) {
  const [isOpen, setOpen] = useState(false);
  const { anyOf = [schema] } = resolve(schema);
  const [example] = isOpen ? examplesOf(schema, resolve) : [];
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen && (
        <div class="parts">
          {anyOf.map((one) => {
            const { title = name } = resolve(one);
            return <Fields key={title} caption={title} rows={fieldsOf(one, resolve)} />;
          })}
          {example !== undefined && (
            /* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard */
            <pre tabIndex={0}>{example}</pre>
          )}
        </div>
      )}
    </details>
  );
}

function Fields({ caption, rows }: { caption: string; rows: ReturnType<typeof fieldsOf> }) {
  return (
    <table>
      <caption>{caption}</caption>
      <tbody>
        {rows.map(({ name, type, isRequired, description }) => (
          <tr key={name}>
            <th scope="row" class="name">
              <code>{name}</code> {isRequired && <span class="tag">required</span>}
            </th>
            <td>
              <span class="type">{type}</span>
              <Prose text={description} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The descriptions contain code between backticks, and no other markup. */
export function Prose({ text }: { text: string }) {
  const parts = text.split('`');
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : <code key={part}>{part}</code>))}</>;
}
