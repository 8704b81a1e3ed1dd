/** Every command, in the order of the help. */
export const commandNames = [
  'serve',
  'save',
  'list',
  'search',
  'get',
  'update',
  'delete',
  'ingest',
  'status',
  'wait',
  'export',
  'import',
  'users',
  'whoami',
  'health',
  'keys',
  'profile',
  'mcp',
  'backup',
  'restore',
  'migrate',
  'doctor',
  'help',
  'completion',
] as const;

export type CommandName = (typeof commandNames)[number];
