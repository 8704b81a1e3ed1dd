import { useState } from 'preact/hooks';
import * as code from '../home/snippets.ts';
import { address } from './key.ts';
import { useAction } from './loading.ts';
import { Copy, Facts, Failure, Form, Input, Screen, Time } from './parts.tsx';
import { hrefTo } from './router.ts';
import { connect, refusal, type Session } from './session.ts';

export function EnterKey() {
  const [text, setText] = useState('');
  const { run, isRunning } = useAction(() => connect(text.trim()));
  return (
    <Screen title="Enter an API key">
      <Form class="card narrow" onSubmit={run}>
        <Input
          label="API key"
          type="password"
          required
          autoComplete="off"
          value={text}
          onValue={setText}
        />
        {refusal.value !== '' && (
          <p class="failure" role="alert">
            {refusal.value}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={isRunning || text.trim() === ''}>
            Connect
          </button>
        </div>
        <p>
          The first start of the service prints a link to this page that contains a key. To create
          another key, run this on the machine of the service. In a clone, write{' '}
          <code>npx memory</code>.
        </p>
        <Snippet title="Create a key" text="memory keys create --name console" />
        <p>
          This tab keeps the key until you close it or sign out. The key is sent only to this
          service.
        </p>
      </Form>
    </Screen>
  );
}

/** Shows how to use the key. */
export function Connect({ session }: { session: Session }) {
  const { key } = session;
  return (
    <Screen title="Connect">
      <Facts
        of={{
          Address: [address, ' ', <Copy key="copy" text={address} of="the address" />],
          Project: key.project,
          Key: [key.name, ' ', <small key="end">…{key.lastFour}</small>],
          'Memories of': key.userId ?? 'all users',
          Rights: key.readOnly ? 'read' : 'read and write',
          ...(key.expiresAt !== null && { Expires: <Time at={key.expiresAt} /> }),
        }}
      />
      {!key.readOnly && <FirstMemory session={session} />}
      <Snippets session={session} />
    </Screen>
  );
}

function FirstMemory({ session: { client, key } }: { session: Session }) {
  const [userId, setUserId] = useState(key.userId ?? 'ada');
  const [content, setContent] = useState('Allergic to peanuts');
  const [saved, setSaved] = useState<{ id: string; userId: string } | null>(null);
  const action = useAction(async () => setSaved(await client.save({ userId, content })));
  return (
    <Form class="card" onSubmit={action.run}>
      <h2>Save a memory</h2>
      <div class="row">
        <Input
          label="User"
          required
          maxLength={256}
          value={userId}
          disabled={key.userId !== null}
          onValue={setUserId}
        />
        <Input label="Text" required value={content} onValue={setContent} />
        <button type="submit" class="primary" disabled={action.isRunning}>
          Save
        </button>
      </div>
      <Failure error={action.error} />
      <p role="status">
        {saved !== null && (
          <>
            Saved as <a href={hrefTo(['memories', saved.id])}>{saved.id}</a>. All memories of{' '}
            <a href={hrefTo(['users', saved.userId])}>{saved.userId}</a>.
          </>
        )}
      </p>
    </Form>
  );
}

function Snippets({ session: { apiKey, key } }: { session: Session }) {
  const [hasKey, setHasKey] = useState(false);
  const target = { url: address, userId: key.userId ?? 'ada', readOnly: key.readOnly };
  const shown = hasKey ? apiKey : `mk_…${key.lastFour}`;
  const exported = `export MEMORY_API_KEY='${apiKey}'`;
  const mcp = code.mcpHttpCode(target).replace('$MEMORY_API_KEY', () => apiKey);
  return (
    <section aria-labelledby="snippets">
      <div class="title">
        <h2 id="snippets">From your program</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={hasKey}
            onChange={(event) => setHasKey(event.currentTarget.checked)}
          />
          Show the key
        </label>
      </div>
      <div class="snippets">
        <Snippet title="The key, for all snippets" text={exported} hides={[apiKey, shown]} />
        <Snippet title="curl" text={code.curlCode(target)} />
        <Snippet title="TypeScript" text={code.typescriptCode(target)} />
        <Snippet title="Python" text={code.pythonCode(target)} />
        <Snippet title="Command line" text={code.cliCode(target)} />
        <Snippet title="MCP client, by command" text={code.mcpCode(target)} />
        <Snippet title="MCP client, over HTTP" text={mcp} hides={[apiKey, shown]} />
      </div>
    </section>
  );
}

type SnippetProps = {
  title: string;
  text: string;
  /** A secret, which is copied, and what is shown instead. */
  hides?: [secret: string, shown: string];
};

function Snippet({ title, text, hides: [secret, shown] = ['', ''] }: SnippetProps) {
  return (
    <section class="snippet" aria-label={title}>
      <div class="bar">
        <strong>{title}</strong>
        <Copy text={text} of={title} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide snippet scrolls by keyboard */}
      <pre tabIndex={0}>{text.replace(secret, () => shown)}</pre>
    </section>
  );
}
