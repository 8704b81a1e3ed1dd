import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Memory, MemoryServiceError } from '../../sdk/index.ts';
import { messageOf } from './format.ts';
import { type Loaded, useAction } from './loading.ts';

/* The parts that several screens share. Preact escapes every text that they show. */

type Children = { children?: ComponentChildren };

let isFirstScreen = true;

/** A screen that opens takes the focus, so that a screen reader announces it. */
export function Screen({
  title,
  aside,
  children,
}: Children & { title: string; aside?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · memory-service`;
    // On the first screen, the focus begins at the top of the page.
    if (!isFirstScreen) heading.current?.focus({ preventScroll: true });
    isFirstScreen = false;
    scrollTo(0, 0);
  }, [title]);
  return (
    <main id="main">
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {aside}
      </div>
      {children}
    </main>
  );
}

export function Failure({ error }: { error: Error | null }) {
  if (error === null) return null;
  const requestId = error instanceof MemoryServiceError ? error.requestId : undefined;
  return (
    <p class="failure" role="alert">
      {messageOf(error)}
      {requestId !== undefined && <small> Request {requestId}</small>}
    </p>
  );
}

type ListingProps = Children & { of: Loaded<{ items: unknown[]; nextCursor?: string | null }> };

/** A list, with what is said while it loads, if it fails, and if there is more of it. */
export function Listing({ of: { value, error, isLoading, reload, more }, children }: ListingProps) {
  return (
    <section aria-busy={isLoading}>
      <p class="hidden" role="status">
        {value === null ? isLoading && 'Loading…' : `${value.items.length} shown`}
      </p>
      <Failure error={error} />
      {error !== null && (
        <button type="button" onClick={reload}>
          Try again
        </button>
      )}
      {value === null && isLoading && <Empty>Loading…</Empty>}
      {value !== null && children}
      {value?.nextCursor && (
        <button type="button" class="more" disabled={isLoading} onClick={more}>
          Show more
        </button>
      )}
    </section>
  );
}

export function Empty({ children }: Children) {
  return <p class="empty">{children}</p>;
}

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit?(): unknown };

/** A form that the browser does not send. */
export function Form({ onSubmit, ...props }: FormProps) {
  function submit(event: Event): void {
    event.preventDefault();
    onSubmit?.();
  }
  return <form {...props} onSubmit={submit} />;
}

export function Field({ label, children }: Children & { label: string }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** A control that shows a text. `onValue` is called with the text that somebody has entered. */
type Control<Tag extends 'input' | 'textarea'> = ComponentProps<Tag> & {
  label: string;
  onValue(value: string): void;
};

export function Input({ label, onValue, ...props }: Control<'input'>) {
  return (
    <Field label={label}>
      <input {...props} onInput={(event) => onValue(event.currentTarget.value)} />
    </Field>
  );
}

export function TextArea({ label, onValue, ...props }: Control<'textarea'>) {
  return (
    <Field label={label}>
      <textarea {...props} onInput={(event) => onValue(event.currentTarget.value)} />
    </Field>
  );
}

type SelectProps = {
  label: string;
  value: string;
  /** Each value with the name that is shown. */
  options: Record<string, string>;
  onValue(value: string): void;
};

export function Select({ label, value, options, onValue }: SelectProps) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {Object.entries(options).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

type FactsProps = { class?: string; of: Record<string, ComponentChildren> };

/** Names and their values, as a description list. */
export function Facts({ class: kind = 'facts', of }: FactsProps) {
  return (
    <dl class={kind}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const clock = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'short',
  hourCycle: 'h23',
});

export function Time({ at }: { at: string | null }) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={at}>
      {clock.format(new Date(at))}
    </time>
  );
}

export function Status({ of }: { of: string }) {
  return of === 'complete' ? null : <span class={`tag ${of}`}>{of}</span>;
}

/** The name of a record. The texts of similar documents often begin alike. */
export function Name({ of: { type, metadata, externalId } }: { of: Memory }) {
  const name = typeof metadata.title === 'string' ? metadata.title : externalId;
  return type === 'memory' || name === null ? null : <strong>{name}</strong>;
}

/** Copies text. Over plain HTTP, only a page on the local machine may use the clipboard. */
export function Copy({ text, of }: { text: string; of: string }) {
  const [done, setDone] = useState('');
  async function copy(): Promise<void> {
    const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => true,
      () => copySelected(text),
    );
    setDone(isCopied ? 'Copied' : 'Not copied');
    setTimeout(() => setDone(''), 2_000);
  }
  return (
    <button type="button" class="copy" onClick={copy} aria-label={done || `Copy ${of}`}>
      <span aria-live="polite">{done || 'Copy'}</span>
    </button>
  );
}

/** Without the clipboard API, a browser copies only what is selected in the page. */
function copySelected(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

type DialogProps = Children & {
  title: string;
  /** The button that does it. */
  verb: string;
  /** The text that must be typed first, if any. */
  typed?: string;
  write(): Promise<unknown>;
  onClose(): void;
  onDone(): void;
};

/** Asks before something is deleted. The browser keeps the focus inside, and Escape closes it. */
export function Confirm({ title, verb, typed, write, onClose, onDone, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const action = useAction(write);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  async function submit(): Promise<void> {
    if (!(await action.run())) return;
    dialog.current?.close();
    onDone();
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={id}>
      <Form onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        {children}
        {typed !== undefined && (
          <Input label={`To confirm, type ${typed}`} value={text} onValue={setText} />
        )}
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            class="danger"
            disabled={action.isRunning || (typed !== undefined && text !== typed)}
          >
            {verb}
          </button>
        </div>
      </Form>
    </dialog>
  );
}

export function Brand() {
  return (
    <a class="brand" href="./" aria-label="memory-service">
      <Logo />
      <span>memory-service</span>
    </a>
  );
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="tile" />
      <rect x="8" y="8.5" width="16" height="3.5" rx="1.75" />
      <rect x="8" y="14.25" width="10" height="3.5" rx="1.75" />
      <rect x="8" y="20" width="13" height="3.5" rx="1.75" />
      <circle cx="22.25" cy="16" r="1.75" />
    </svg>
  );
}
