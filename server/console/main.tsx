import { render } from 'preact';
import { Connect } from './connect.tsx';
import './console.css';
import { Memories } from './memories.tsx';
import { OneMemory } from './memory.tsx';
import { hrefTo, route } from './router.ts';
import { disconnect, resume, type Session, session } from './session.ts';
import { Users } from './users.tsx';

/** The screens in the order of the navigation. `first` is the first part of the address. */
const screens = [
  { first: '', name: 'Connect' },
  { first: 'users', name: 'Users' },
];

function Console() {
  return (
    <>
      <button type="button" class="skip" onClick={skipHeader}>
        Skip to the content
      </button>
      <header>
        <a class="brand" href="./" aria-label="memory-service">
          <Logo />
          <span>memory-service</span>
        </a>
        {session.value !== null && <Navigation of={session.value} />}
      </header>
      <Shown />
    </>
  );
}

/** A link to a part of the page would replace the address of the screen. */
function skipHeader(): void {
  document.querySelector('h1')?.focus();
}

function Navigation({ of: { key } }: { of: Session }) {
  const [first] = route.value.path;
  const kind = [key.project, ...(key.userId === null ? [] : [key.userId])].join(' · ');
  return (
    <>
      <nav aria-label="Screens">
        {screens.map((screen) => (
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
  const [first = '', second] = route.value.path;
  if (current === null || first === '') return <Connect session={current} />;
  if (first === 'users' && second !== undefined) {
    return <Memories key={second} session={current} userId={second} />;
  }
  if (first === 'memories' && second !== undefined) {
    return <OneMemory key={second} session={current} id={second} />;
  }
  return <Users session={current} />;
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

await resume();
const root = document.getElementById('console');
if (root !== null) render(<Console />, root);
