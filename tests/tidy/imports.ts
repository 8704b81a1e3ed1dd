import { type Import, importsOf } from './import-statements.ts';
import type { Breach, Rule } from './source.ts';

/**
 * The modules that a group of files may import. The first row that matches a file applies. A name
 * that ends in a slash or a colon is a prefix.
 */
type Row = {
  from: string[];
  may: string[];
  /** May be imported only as types. Types do not exist at run time. */
  types?: string[];
  /** May be imported on demand with `import()`, or as types. */
  late?: string[];
  /** Excluded from `may`, unless `may` lists the full name. */
  not?: string[];
};

const backends = ['server/storage/sqlite/', 'server/storage/postgres/'];
/** The parts of the contract that do not need TypeBox at run time. */
const plainContract = ['errors', 'headers', 'limits', 'operations', 'times'].map(
  (name) => `sdk/contract/${name}.ts`,
);
/** What the storage receives and returns. */
const data = ['server/storage/types/'];
const storage = 'server/storage/storage.ts';
/** The modules that all backends share. */
const shared = [
  'activity',
  'engine',
  'findings',
  'index-cache',
  'pooled-reads',
  'position',
  'queue-limit',
  'read-hold',
  'read-pace',
  'reader-pool',
  'reader-thread',
  'refusals',
  'search-results',
]
  .map((name) => `server/storage/${name}.ts`)
  .concat('server/storage/copy/', 'server/storage/operations/', storage);
const readersOnly = ['index-cache', 'search-results'].map((name) => `server/storage/${name}.ts`);
const anyBackend = [
  ...data,
  ...shared,
  'server/embeddings/kernel-file.ts',
  'server/errors.ts',
  'server/memory/',
  'server/metrics/counts.ts',
  'server/search/',
  'server/threads/',
  'node:',
  'bun',
].concat(plainContract);
/** Pure modules, which depend on neither HTTP nor a database. */
const pure = [
  ...['encoder', 'kernel', 'texts', 'vector', 'weights', 'wordpiece'].map(
    (name) => `server/embeddings/${name}.ts`,
  ),
  'server/memory/',
  'server/search/',
];
/** The modules that every folder of the CLI may import. */
const terminal = ['cli/terminal/', 'cli/errors.ts'];
const frameworks = ['@anthropic-ai/sdk', '@anthropic-ai/sdk/', 'ai', 'ai/test'].concat(
  '@langchain/langgraph-checkpoint',
);
const typebox = ['@sinclair/typebox', '@sinclair/typebox/'];

const table: Row[] = [
  { from: ['sdk/contract/'], may: ['sdk/contract/', ...typebox] },
  {
    from: ['sdk/adapters/'],
    may: ['memory-service-sdk', ...frameworks, 'sdk/adapters/', 'node:', 'bun:test', 'fast-check'],
  },
  {
    from: ['sdk/'],
    may: ['ofetch', 'sdk/', ...plainContract],
    types: ['sdk/contract/'],
    not: ['sdk/contract/'],
  },
  {
    from: ['cli/terminal/'],
    may: [...terminal, 'node:'],
    types: ['jsonc-parser'],
    late: ['jsonc-parser'],
  },
  {
    from: ['cli/client/'],
    may: [...terminal, 'cli/client/', 'cli/commander.ts', 'sdk/index.ts', 'node:'],
    types: ['sdk/contract/'],
  },
  {
    from: ['cli/documents/'],
    may: [...terminal, 'cli/documents/', 'node:'],
    types: ['sdk/index.ts'],
  },
  {
    from: ['cli/bulk/'],
    may: [
      ...terminal,
      'cli/bulk/',
      'cli/client/',
      'cli/documents/',
      'cli/commander.ts',
      'cli/options.ts',
      'sdk/contract/errors.ts',
      'sdk/index.ts',
      'node:',
    ],
    late: ['sdk/contract/validate.ts'],
  },
  {
    from: ['cli/commands/mcp-clients.ts'],
    may: [...terminal, 'jsonc-parser', 'node:'],
  },
  {
    from: ['cli/'],
    may: ['commander', 'sdk/index.ts', 'server/errors.ts', 'cli/', 'package.json', 'node:'],
    types: ['@commander-js/extra-typings', 'sdk/contract/'],
    late: [
      'server/main.ts',
      'server/admin.ts',
      'sdk/contract/validate.ts',
      'server/mcp/tools/stdio.ts',
    ],
  },
  { from: data, may: [], types: ['sdk/contract/', ...data] },
  {
    from: ['server/storage/open.ts'],
    may: ['node:', ...data],
    late: backends,
    types: [...backends, storage],
  },
  {
    // All threads load these, and only reader threads should load the search.
    from: ['server/storage/operations/', storage],
    may: anyBackend,
    not: ['server/search/', ...readersOnly],
    types: ['sdk/contract/', ...readersOnly],
  },
  { from: shared, may: anyBackend, types: ['sdk/contract/'] },
  {
    from: ['server/storage/sqlite/'],
    may: ['bun:sqlite', 'server/storage/sqlite/', ...anyBackend],
    types: ['sdk/contract/'],
  },
  {
    from: ['server/storage/postgres/'],
    may: ['server/storage/postgres/', ...anyBackend],
    types: ['sdk/contract/'],
  },
  { from: ['server/memory/render.ts'], may: [...pure, ...data, 'sdk/contract/'] },
  {
    // The reader threads load these modules, and would start more slowly with TypeBox.
    from: pure,
    may: [...pure, ...data, 'server/errors.ts', ...plainContract],
    types: ['sdk/contract/'],
  },
  {
    from: ['server/embeddings/'],
    may: [
      'server/embeddings/',
      'server/threads/',
      'server/tasks/notifier.ts',
      'server/metrics/counts.ts',
      'server/storage/open.ts',
      ...data,
      'server/log.ts',
      'node:',
    ],
    types: ['server/config.ts', storage],
  },
  {
    from: ['server/tasks/'],
    may: [
      'server/tasks/',
      'server/threads/',
      'server/memory/',
      'server/metrics/counts.ts',
      'server/storage/open.ts',
      ...data,
      'server/errors.ts',
      'server/log.ts',
      'node:',
    ],
    types: ['server/config.ts', storage],
  },
  {
    // A thread gets the memory of the counts with its first message.
    from: ['server/threads/'],
    may: [
      'server/errors.ts',
      'server/log.ts',
      'server/metrics/counts.ts',
      'server/threads/',
      'sdk/contract/',
      'node:',
    ],
  },
  {
    // Every thread loads these modules.
    from: ['server/metrics/'],
    may: ['server/metrics/', 'node:', ...plainContract],
    types: [...data, 'sdk/contract/'],
  },
  // The caller passes the SDK client. For stdio, the caller is the CLI. For HTTP, it is the MCP
  // thread.
  {
    from: ['server/mcp/tools/'],
    may: [
      'server/mcp/tools/',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/',
      'node:',
    ],
    types: ['sdk/index.ts'],
  },
  // The MCP library must load in the MCP thread, not in the HTTP thread.
  {
    from: ['server/mcp/tools-thread.ts'],
    may: [
      '@modelcontextprotocol/server',
      'sdk/index.ts',
      'sdk/contract/headers.ts',
      'server/mcp/',
      'server/threads/',
      'node:',
    ],
  },
  { from: ['server/home/'], may: ['server/home/', 'node:'], types: ['sdk/contract/'] },
  {
    from: ['server/console/'],
    may: ['preact', 'preact/', '@preact/', 'server/console/', 'server/home/', 'sdk/index.ts'],
  },
  {
    from: ['server/http/', 'server/app.ts'],
    may: ['elysia', 'server/', 'sdk/contract/', 'node:', ...typebox],
    not: [...backends, 'server/main.ts', 'server/admin.ts'],
  },
  {
    from: ['server/main.ts'],
    may: ['server/', 'sdk/contract/', 'package.json', 'node:'],
  },
  { from: ['server/admin.ts'], may: ['server/'], late: backends, not: backends },
  { from: ['server/'], may: ['server/', 'sdk/contract/', 'node:'], not: backends },
  // These tests and programs measure the parts of a backend, or compare documentation with them.
  {
    from: [
      'tests/unit/',
      'tests/bench/internals/',
      'tests/docs.test.ts',
      'tests/storage/copied-columns.test.ts',
      'tests/storage/lock.test.ts',
      'tests/storage/postgres-planner.test.ts',
      'tests/storage/sqlite-plans.test.ts',
    ],
    may: [''],
  },
  { from: ['tests/'], may: [''], not: [...backends, 'server/storage/copy/'] },
];

export const importRule: Rule = {
  name: 'imports go in one direction',
  breaches: (source) => importsOf(source).flatMap((one) => breachesOf(source.path, one)),
  bad: {
    path: 'server/http/a.ts',
    text: "import {\n  open,\n} from '../storage/sqlite/open.ts';",
  },
  good: { path: 'server/main.ts', text: "import { open } from './storage/sqlite/open.ts';" },
};

function breachesOf(path: string, { target, kind, line }: Import): Breach[] {
  const row = table.find(({ from }) => fits(path, from));
  const { may = [], types = [], late = [], not = [] } = row ?? {};
  const granted = kind === 'value' ? [] : [...late, ...(kind === 'type' ? types : [])];
  const isExact = may.includes(target) || fits(target, granted);
  if (isExact || (fits(target, may) && !fits(target, not))) return [];
  return [{ line, why: `${path} may not import ${target}${kind === 'value' ? '' : ` (${kind})`}` }];
}

function fits(name: string, patterns: string[]): boolean {
  return patterns.some((pattern) =>
    pattern === '' || /[/:]$/.test(pattern) ? name.startsWith(pattern) : name === pattern,
  );
}
