import { render } from 'preact';
import { Add } from './add.tsx';
import { Connect, EnterKey } from './connect.tsx';
import './console.css';
import { Health } from './health.tsx';
import { Memories } from './memories.tsx';
import { OneMemory } from './memory.tsx';
import { Brand } from './parts.tsx';
import { Queue } from './queue.tsx';
import { hrefTo, route } from './router.ts';
import { disconnect, resume, type Session, session } from './session.ts';
import { Users } from './users.tsx';

/** The screens in the order of the navigation. `first` is the first part of the address. */
const screens = [
  { first: '', name: 'Connect', Screen: Connect },
  { first: 'users', name: 'Users', Screen: Users },
  { first: 'queue', name: 'Queue', Screen: Queue },
  { first: 'add', name: 'Add', Screen: Add, writes: true },
  { first: 'health', name: 'Health', Screen: Health },
];

function screensOf({ key }: Session) {
  return screens.filter(({ writes = false }) => !writes || !key.readOnly);
}

function Console() {
  return (
    <>
      {/* A link to a part of the page would replace the address of the screen. */}
      <button type="button" class="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <header>
        <Brand />
        {session.value !== null && <Navigation of={session.value} />}
      </header>
      <Shown />
    </>
  );
}

function Navigation({ of }: { of: Session }) {
  const { key } = of;
  const [first] = route.value.path;
  const kind = [key.project, ...(key.userId === null ? [] : [key.userId])].join(' · ');
  return (
    <>
      <nav aria-label="Screens">
        {screensOf(of).map((screen) => (
          <a
            key={screen.first}
            href={hrefTo([screen.first])}
            aria-current={screen.first === first ? 'page' : undefined}
          >
            {screen.name}
          </a>
        ))}
      </nav>
      <div class="key">
        <a href="docs">API</a>
        <span title={`The key ends in ${key.lastFour}`}>{kind}</span>
        {key.readOnly && <span class="tag">read-only</span>}
        <button type="button" class="plain" onClick={() => disconnect()}>
          Sign out
        </button>
      </div>
    </>
  );
}

function Shown() {
  const current = session.value;
  const [first, second] = route.value.path;
  if (current === null) return <EnterKey />;
  if (first === 'users' && second !== undefined) {
    return <Memories key={second} session={current} userId={second} />;
  }
  if (first === 'memories' && second !== undefined) {
    return <OneMemory key={second} session={current} id={second} />;
  }
  const shown = screensOf(current).find((screen) => screen.first === first);
  const Screen = shown?.Screen ?? Connect;
  return <Screen session={current} />;
}

await resume();
const root = document.getElementById('page');
if (root !== null) render(<Console />, root);
