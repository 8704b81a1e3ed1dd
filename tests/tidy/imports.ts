import { type Import, importsOf } from './import-statements.ts';
import type { Breach, Rule } from './source.ts';

/**
 * The modules that a group of files may import, separated by spaces. The first row that matches a
 * file applies. A name that ends in a slash or a colon is a prefix.
 */
type Row = {
  from: string;
  may: string;
  /** May be imported only as types. Types do not exist at run time. */
  types?: string;
  /** May be imported on demand with `import()`, or as types. */
  late?: string;
  /** Excluded from `may`, unless `may` lists the full name. */
  not?: string;
};

const contract = 'sdk/contract/';
/** The parts of the contract that do not need TypeBox at run time. */
const plainContract =
  'sdk/contract/enumerations.ts sdk/contract/errors.ts sdk/contract/headers.ts ' +
  'sdk/contract/limits.ts sdk/contract/numbers.ts sdk/contract/operations.ts sdk/contract/times.ts';
const typebox = '@sinclair/typebox @sinclair/typebox/';
const backends = 'server/storage/sqlite/ server/storage/postgres/';
/** What the storage receives and returns. */
const data = 'server/storage/types/';
const storage = 'server/storage/storage.ts';
const readersOnly = 'server/storage/index-cache.ts server/storage/search-results.ts';
/** The modules that all backends share. */
const shared =
  'server/storage/activity.ts server/storage/engine.ts server/storage/findings.ts ' +
  'server/storage/pooled-reads.ts server/storage/position.ts server/storage/queue-limit.ts ' +
  'server/storage/read-hold.ts server/storage/read-pace.ts server/storage/reader-pool.ts ' +
  'server/storage/reader-thread.ts server/storage/refusals.ts server/storage/copy/ ' +
  `server/storage/operations/ ${readersOnly} ${storage}`;
const anyBackend =
  `${data} ${shared} ${plainContract} server/embeddings/kernel-file.ts server/errors.ts ` +
  'server/memory/ server/metrics/counts.ts server/search/ server/threads/ node: bun';
/** Pure modules, which depend on neither HTTP nor a database. */
const pure =
  'server/embeddings/encoder.ts server/embeddings/kernel.ts server/embeddings/texts.ts ' +
  'server/embeddings/vector.ts server/embeddings/weights.ts server/embeddings/wordpiece.ts ' +
  'server/memory/ server/search/';
/** The modules that every folder of the CLI may import. */
const terminal = 'cli/terminal/ cli/errors.ts sdk/contract/numbers.ts node:';
const frameworks =
  '@anthropic-ai/sdk @anthropic-ai/sdk/ ai ai/test @langchain/langgraph-checkpoint';

const table: Row[] = [
  { from: contract, may: `${contract} ${typebox}` },
  {
    from: 'sdk/adapters/',
    may: `memory-service-sdk ${frameworks} sdk/adapters/ node: bun:test fast-check`,
  },
  { from: 'sdk/', may: `ofetch sdk/ ${plainContract}`, types: contract, not: contract },
  { from: 'cli/terminal/', may: terminal, late: 'jsonc-parser' },
  {
    from: 'cli/client/',
    may: `${terminal} cli/client/ cli/commander.ts sdk/index.ts server/metrics/reading.ts`,
    types: contract,
  },
  { from: 'cli/documents/', may: `${terminal} cli/documents/`, types: 'sdk/index.ts' },
  {
    from: 'cli/bulk/',
    may:
      `${terminal} cli/bulk/ cli/client/ cli/documents/ cli/commander.ts cli/options.ts ` +
      'sdk/contract/errors.ts sdk/index.ts',
    late: 'sdk/contract/validate.ts',
  },
  { from: 'cli/commands/mcp-clients.ts', may: `${terminal} jsonc-parser` },
  {
    from: 'cli/',
    may:
      `${terminal} commander sdk/index.ts sdk/contract/enumerations.ts sdk/contract/times.ts ` +
      'server/errors.ts cli/ package.json',
    types: `@commander-js/extra-typings ${contract}`,
    late: 'server/main.ts server/admin.ts sdk/contract/validate.ts server/mcp/tools/stdio.ts',
  },
  { from: data, may: '', types: `${contract} ${data}` },
  {
    from: 'server/storage/open.ts',
    may: `node: ${data}`,
    late: backends,
    types: storage,
  },
  {
    // All threads load these, and only reader threads should load the search.
    from: `server/storage/operations/ ${storage}`,
    may: anyBackend,
    not: `server/search/ ${readersOnly}`,
    types: `${contract} ${readersOnly}`,
  },
  { from: shared, may: anyBackend, types: contract },
  {
    from: 'server/storage/sqlite/',
    may: `bun:sqlite server/storage/sqlite/ ${anyBackend}`,
    types: contract,
  },
  {
    from: 'server/storage/postgres/',
    may: `server/storage/postgres/ ${anyBackend}`,
    types: contract,
  },
  { from: 'server/memory/render.ts', may: `${pure} ${data} ${contract}` },
  {
    // The reader threads load these modules, and would start more slowly with TypeBox.
    from: pure,
    may: `${pure} ${data} server/errors.ts ${plainContract}`,
    types: contract,
  },
  {
    from: 'server/embeddings/',
    may:
      `server/embeddings/ server/threads/ server/tasks/notifier.ts server/metrics/counts.ts ` +
      `server/storage/open.ts ${data} server/log.ts node:`,
    types: `server/config.ts ${storage}`,
  },
  {
    from: 'server/tasks/',
    may:
      'server/tasks/ server/threads/ server/memory/ server/metrics/counts.ts ' +
      `server/storage/open.ts ${data} server/errors.ts server/log.ts node:`,
    types: `server/config.ts ${storage}`,
  },
  {
    // A thread gets the memory of the counts with its first message.
    from: 'server/threads/',
    may: `server/errors.ts server/log.ts server/metrics/counts.ts server/threads/ ${contract} node:`,
  },
  {
    // Every thread loads these modules.
    from: 'server/metrics/',
    may: `server/metrics/ node: ${plainContract}`,
    types: `${data} ${contract}`,
  },
  // The caller passes the SDK client. For stdio, the caller is the CLI. For HTTP, it is the MCP
  // thread.
  {
    from: 'server/mcp/tools/',
    may:
      'server/mcp/tools/ @modelcontextprotocol/server @modelcontextprotocol/server/ node: ' +
      'sdk/contract/enumerations.ts sdk/contract/numbers.ts',
    types: 'sdk/index.ts',
  },
  // The MCP library must load in the MCP thread, not in the HTTP thread.
  {
    from: 'server/mcp/tools-thread.ts',
    may:
      '@modelcontextprotocol/server sdk/index.ts sdk/contract/headers.ts server/mcp/ ' +
      'server/threads/ node:',
  },
  { from: 'server/home/', may: 'server/home/ node:', types: contract },
  {
    from: 'server/console/',
    may:
      'preact preact/ @preact/ server/console/ server/home/ server/metrics/reading.ts ' +
      'sdk/index.ts sdk/contract/enumerations.ts sdk/contract/numbers.ts',
  },
  {
    from: 'server/http/ server/app.ts',
    may: `elysia server/ ${contract} node: ${typebox}`,
    not: `${backends} server/main.ts server/admin.ts`,
  },
  { from: 'server/main.ts', may: `server/ ${contract} package.json node:` },
  { from: 'server/admin.ts', may: 'server/', late: backends, not: backends },
  { from: 'server/', may: `server/ ${contract} node:`, not: backends },
  // These tests and programs measure the parts of a backend, or compare documentation with them.
  {
    from:
      'tests/unit/ tests/bench/internals/ tests/docs.test.ts ' +
      'tests/storage/postgres-copy.test.ts tests/storage/file.test.ts ' +
      'tests/storage/postgres-planner.test.ts tests/storage/sqlite-plans.test.ts',
    may: '*',
  },
  { from: 'tests/', may: '*', not: `${backends} server/storage/copy/` },
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
  const { may = '', types = '', late = '', not = '' } = row ?? {};
  const granted = kind === 'value' ? '' : kind === 'late' ? late : `${late} ${types}`;
  const isExact = may.split(' ').includes(target) || fits(target, granted);
  if (isExact || (fits(target, may) && !fits(target, not))) return [];
  return [{ line, why: `${path} may not import ${target}${kind === 'value' ? '' : ` (${kind})`}` }];
}

function fits(name: string, patterns: string): boolean {
  return patterns
    .split(' ')
    .some((one) => one === '*' || (/[/:]$/.test(one) ? name.startsWith(one) : name === one));
}
