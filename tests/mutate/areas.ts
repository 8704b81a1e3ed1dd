/** The tests of the commands that open a database without the service. */
const administration = [
  ...['unit/', 'storage/', 'cli/doctor', 'cli/keys', 'cli/migrate', 'cli/operations'],
  ...['cli/postgres', 'cli/restore', 'cli/serve'],
];

/**
 * Maps the prefix of a code path to the prefixes of the test files that cover it. The first
 * matching row applies.
 */
const table: [code: string, tests: string[]][] = [
  ['server/search/', ['search/', 'http/search', 'storage/sqlite']],
  ['server/memory/', ['unit/', 'storage/sqlite', 'tasks/', 'http/']],
  ['server/tasks/worker-thread', ['tasks/', 'threads/', 'http/lost-threads']],
  ['server/tasks/', ['unit/', 'tasks/', 'http/ingest', 'http/health']],
  ['server/mcp/', ['mcp/']],
  ['server/http/mcp', ['mcp/', 'http/']],
  ['server/http/hosts', ['mcp/', 'http/']],
  ['server/http/openapi', ['drift', 'http/openapi']],
  ['server/threads/', ['storage/', 'threads/', 'http/lost-threads']],
  ['server/storage/postgres/citus', ['docs', 'storage/postgres']],
  ['server/storage/findings', ['storage/', 'cli/doctor', 'cli/operations']],
  ['server/storage/copy/', ['unit/', 'storage/', 'cli/migrate']],
  ['server/storage/sqlite/admin/', administration],
  ['server/storage/postgres/admin/', administration],
  ['server/storage/operations/consistency', ['storage/', 'cli/doctor']],
  ['server/storage/operations/', ['unit/', 'storage/', 'http/', 'cli/keys']],
  [
    'server/storage/',
    ['unit/', 'storage/', 'http/health', 'cli/keys', 'cli/serve', 'cli/controls', 'cli/restore'],
  ],
  ['server/admin', ['cli/keys', 'cli/serve', 'storage/']],
  ['server/', ['unit/', 'drift', 'http/', 'package/service', 'cli/serve']],
  ['sdk/contract/', ['unit/', 'drift', 'http/', 'sdk/']],
  ['sdk/', ['sdk/', 'drift', 'cli/wait', 'cli/retry']],
  ['cli/completion', ['cli/completion', 'cli/transcripts', 'drift']],
  ['cli/documents/', ['cli/document', 'cli/html']],
  ['cli/', ['cli/', 'drift', 'docs', 'examples']],
];

/** Returns the area under which the results for a path are reported. */
export function areaOf(path: string): string {
  const [part = '', inner = '', deeper] = path.split('/');
  return deeper === undefined ? part : `${part}/${inner}`;
}

export function testsOfArea(path: string, tests: string[]): string[] {
  const [, starts = []] = table.find(([code]) => path.startsWith(code)) ?? [];
  return tests.filter((test) => starts.some((start) => test.startsWith(`tests/${start}`)));
}
