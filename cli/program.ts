import { version } from '../package.json';
import { defaultBaseUrl } from './client/connect.ts';
import { Command, InvalidArgumentError, type Parent } from './commander.ts';
import { asCalled, ownName, type Terminal } from './terminal/terminal.ts';

type Add = (program: Parent, term: Terminal) => void;

/** Imports commands on demand: loading all of them takes longer than running most commands. */
const commands: Record<string, () => Promise<Add>> = {
  serve: async () => (await import('./commands/serve.ts')).addServe,
  save: async () => (await import('./commands/memories.ts')).addSave,
  list: async () => (await import('./commands/list.ts')).addList,
  search: async () => (await import('./commands/search.ts')).addSearch,
  get: async () => (await import('./commands/memories.ts')).addGet,
  update: async () => (await import('./commands/memories.ts')).addUpdate,
  delete: async () => (await import('./commands/memories.ts')).addDelete,
  ingest: async () => (await import('./commands/ingest.ts')).addIngest,
  status: async () => (await import('./commands/status.ts')).addStatus,
  wait: async () => (await import('./commands/status.ts')).addWait,
  export: async () => (await import('./commands/transfer.ts')).addExport,
  import: async () => (await import('./commands/transfer.ts')).addImport,
  users: async () => (await import('./commands/project.ts')).addUsers,
  tasks: async () => (await import('./commands/project.ts')).addTasks,
  stats: async () => (await import('./commands/project.ts')).addStats,
  top: async () => (await import('./commands/top.ts')).addTop,
  whoami: async () => (await import('./commands/service.ts')).addWhoami,
  health: async () => (await import('./commands/service.ts')).addHealth,
  keys: async () => (await import('./commands/keys.ts')).addKeys,
  profile: async () => (await import('./commands/profile.ts')).addProfile,
  mcp: async () => (await import('./commands/mcp.ts')).addMcp,
  backup: async () => (await import('./commands/maintenance.ts')).addBackup,
  restore: async () => (await import('./commands/maintenance.ts')).addRestore,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  doctor: async () => (await import('./commands/maintenance.ts')).addDoctor,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
};

/** Creates the program with the command that `argv` begins with, or with all commands. */
export async function createProgram(processTerminal: Terminal, argv: string[] = []) {
  const program = createRoot(processTerminal);
  const term: Terminal = {
    ...processTerminal,
    // Known when a command runs, because commander parses the whole line first.
    get options() {
      return program.opts();
    },
  };
  const all = Object.entries(commands);
  const called = all.filter(([name]) => name === argv[0]);
  // Otherwise, the help, a spelling suggestion or a command behind options needs all commands.
  const loaded = called.length > 0 ? called : all;
  const added = await Promise.all(loaded.map(([, load]) => load()));
  for (const add of added) add(program, term);
  return program;
}

function createRoot(term: Terminal) {
  return new Command(ownName(term))
    .exitOverride()
    .configureOutput(commanderOutput(term))
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .description("Save, search and ingest your users' memories.")
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'Show help for a command.')
    .option('--json', 'print JSON, including errors')
    .option(
      '--base-url <url>',
      `the URL of the service (env: MEMORY_BASE_URL, default: ${defaultBaseUrl})`,
    )
    .option('--api-key <key>', 'the API key; prefer the environment variable (env: MEMORY_API_KEY)')
    .option('--project <name>', "use this project's key from the profile", parseProject);
}

function parseProject(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  throw new InvalidArgumentError(
    'It must be 1 to 64 letters, digits, hyphens, underscores or dots.',
  );
}

function commanderOutput(term: Terminal) {
  const { stdout, stderr } = term;
  return {
    writeOut: (text: string) => void stdout.write(asCalled(term, text)).catch(() => {}),
    writeErr: (text: string) => void stderr.write(asCalled(term, text)).catch(() => {}),
    getOutHelpWidth: () => stdout.columns,
    getErrHelpWidth: () => stderr.columns,
    // Errors are thrown and reported in one place.
    outputError: () => {},
  };
}
