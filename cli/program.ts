import { version } from '../package.json';
import { type AnyCommand, Command, CommanderError } from './commander.ts';
import { addBackup, addRestore } from './commands/backup.ts';
import { addDelete } from './commands/delete.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExport } from './commands/export.ts';
import { addGet } from './commands/get.ts';
import { addHealth } from './commands/health.ts';
import { addImport } from './commands/import.ts';
import { addIngest } from './commands/ingest.ts';
import { addKeys } from './commands/keys.ts';
import { addList } from './commands/list.ts';
import { addSave } from './commands/save.ts';
import { addSearch } from './commands/search.ts';
import { addServe } from './commands/serve.ts';
import { addStatus } from './commands/status.ts';
import { addUpdate } from './commands/update.ts';
import { addWait } from './commands/wait.ts';
import { defaultBaseUrl } from './connect.ts';
import { describeError, tellFailure } from './describe.ts';
import { ExitWith, exitCodes } from './failure.ts';
import { type Io, withoutColor } from './io.ts';
import { OutputClosed } from './process-output.ts';

/** Runs one command line and says what the process should end with. */
export async function run(argv: string[], processIo: Io): Promise<number> {
  const io = argv.includes('--no-color') ? withoutColor(processIo) : processIo;
  const program = createProgram(io);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const failure = await describeError(io, error, { called, ...program.opts() });
    await tellFailure(io, program.opts().json, failure);
    return failure.exitCode;
  }
}

function commanderOutput({ stdout, stderr }: Io) {
  return {
    writeOut: (text: string) => void stdout.write(text).catch(() => {}),
    writeErr: (text: string) => void stderr.write(text).catch(() => {}),
    getOutHelpWidth: () => stdout.columns,
    getErrHelpWidth: () => stderr.columns,
    // Errors are thrown, and told in one place.
    outputError: () => {},
  };
}

export function createProgram(io: Io) {
  const program = new Command('memory')
    .exitOverride()
    .configureOutput(commanderOutput(io))
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .description('Save, find and ingest memories of your users, on a service of your own.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print JSON, errors too')
    .option('--base-url <url>', `the service (env: MEMORY_BASE_URL, default: ${defaultBaseUrl})`)
    .option('--api-key <key>', 'the API key (better: env MEMORY_API_KEY)')
    .option('--no-color', 'no colours (env: NO_COLOR)');
  addServe(program, io);
  addSave(program, io);
  addList(program, io);
  addSearch(program, io);
  addGet(program, io);
  addUpdate(program, io);
  addDelete(program, io);
  addIngest(program, io);
  addStatus(program, io);
  addWait(program, io);
  addExport(program, io);
  addImport(program, io);
  addHealth(program, io);
  addKeys(program, io);
  addBackup(program, io);
  addRestore(program, io);
  addDoctor(program, io);
  return program;
}
