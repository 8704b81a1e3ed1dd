import type { Health } from '../../sdk/contract/status.ts';
import { cliCode, curlCode, mcpCode, pythonCode, typescriptCode } from './snippets.ts';

/** What the front page shows. `url` is the address that the service listens on. */
export type Shown = { url: string; docs: string; hasConsole: boolean; health: Health };

/** The elements that load the files of the front page. */
export const assets = `<link rel="stylesheet" href="assets/home.css">
<script src="assets/home.js" defer></script>`;

/** Renders the body of the front page. Its script replaces `url` with the address in use. */
export function renderPage({ url, docs, hasConsole, health }: Shown): string {
  const isOk = health.status === 'ok';
  return `<header>
${logo}
<span class="name">memory-service</span>
<nav aria-label="Pages">
${hasConsole ? consoleLinks : ''}<a href="openapi.json">OpenAPI</a>
<a href="health">Health</a>
<a href="${escapeHtml(docs)}" rel="noreferrer">Documentation</a>
</nav>
</header>
<main data-url="${escapeHtml(url)}">
<h1>${isOk ? 'Your memory service is running' : 'Your memory service is failing'}</h1>
<p class="lead">It stores what your users said and did, and finds it again, user by user.
All data stays in your own database.</p>
${messageOf(health)}
<dl class="facts">
${fact('Health', `<span class="state ${isOk ? 'ok' : 'failing'}">${isOk ? 'OK' : 'Failing'}</span>`)}
${fact('Version', escapeHtml(health.version))}
${fact('Database', databases[health.storage] ?? escapeHtml(health.storage))}
${fact('Records in the queue', health.pending.toLocaleString('en'))}
</dl>
<h2>Save a first memory</h2>
<p>Every request needs an API key. The first start stores one for the command line, and shows it on
the terminal.</p>
${snippetsFor(url).map(snippet).join('\n')}
</main>
<footer>This page needs no key, shows no memories, sets no cookie and loads nothing from other
servers.</footer>
<p id="announcement" role="status" class="hidden"></p>`;
}

const consoleLinks = `<a href="console">Console</a>
<a href="docs">API reference</a>
`;

const databases: Record<string, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const logo = `<svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
<rect width="32" height="32" rx="8" class="tile"/>
<rect x="8" y="8.5" width="16" height="3.5" rx="1.75"/>
<rect x="8" y="14.25" width="10" height="3.5" rx="1.75"/>
<rect x="8" y="20" width="13" height="3.5" rx="1.75"/>
<circle cx="22.25" cy="16" r="1.75"/>
</svg>`;

function messageOf({ message }: Health): string {
  return message === undefined ? '' : `<p class="message" role="alert">${escapeHtml(message)}</p>`;
}

function fact(name: string, html: string): string {
  return `<div><dt>${name}</dt><dd>${html}</dd></div>`;
}

const sdk = `The SDK reads the key from <code>MEMORY_API_KEY</code>. The documentation says how to
install it.`;

type Snippet = { id: string; title: string; about: string; code: string };

function snippetsFor(url: string): Snippet[] {
  const target = { url, userId: 'ada', readOnly: false };
  return [
    {
      id: 'key',
      title: 'Create a key',
      about: 'On the machine that runs the service. In a clone, write <code>npx memory</code>.',
      code: 'export MEMORY_API_KEY=$(memory keys create --name my-app)',
    },
    { id: 'curl', title: 'curl', about: 'Or any other HTTP client.', code: curlCode(target) },
    { id: 'typescript', title: 'TypeScript', about: sdk, code: typescriptCode(target) },
    { id: 'python', title: 'Python', about: sdk, code: pythonCode(target) },
    {
      id: 'cli',
      title: 'Command line and MCP',
      about: 'Stores the key, and connects an AI client to the memories of one user.',
      code: `${cliCode(target)}\n\n${mcpCode(target)}`,
    },
  ];
}

function snippet({ id, title, about, code }: Snippet): string {
  return `<section class="snippet" aria-labelledby="${id}-title">
<div class="bar">
<div>
<h3 id="${id}-title">${title}</h3>
<p>${about}</p>
</div>
<button type="button" data-copies="${id}" aria-label="Copy: ${title}" hidden>Copy</button>
</div>
<pre tabindex="0"><code id="${id}">${escapeHtml(code)}</code></pre>
</section>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
