import { version } from '../package.json';
import { type AnyCommand, Command, InvalidArgumentError } from './commander.ts';
import { defaultBaseUrl } from './connect.ts';
import { usageError } from './failure.ts';
import { asCalled, type Io, ownName } from './io.ts';

/** Thrown where help is asked for with --json; run.ts answers it with the reference. */
export class HelpAsJson extends Error {
  override name = 'HelpAsJson';
  /** Those that name the command. */
  readonly words: string[];

  constructor(command: AnyCommand) {
    super('help');
    this.words = wordsOf(command);
  }
}

function wordsOf(command: AnyCommand): string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}

/** The program without its commands: what all of them take, and how they speak. */
export function createRoot(io: Io) {
  const root = new Command(ownName(io))
    .exitOverride()
    .configureOutput(commanderOutput(io))
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .description('Save, find and ingest memories of your users, on a service of your own.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print JSON, errors too')
    .option('--base-url <url>', `the service (env: MEMORY_BASE_URL, default: ${defaultBaseUrl})`)
    .option('--api-key <key>', 'the API key (better by env: MEMORY_API_KEY)')
    .option('--project <name>', 'the project: whose key in the profile is used', parseProject)
    .option('--no-color', 'no colours (env: NO_COLOR)');
  return root.addHelpText('beforeAll', ({ command, error }) => {
    if (!root.opts().json) return '';
    if (!error) throw new HelpAsJson(command);
    throw usageError('No command is named.', 'All of them, as JSON: memory help --json');
  });
}

function parseProject(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  throw new InvalidArgumentError('It must be 1 to 64 letters, digits, - _ or dots.');
}

/** The options above that are followed by a value. */
const withValue = ['--base-url', '--api-key', '--project'];

/** The word that names the command, read as the program will read it. */
export function commandWord(argv: string[]): string | undefined {
  return argv.find((word, at) => !word.startsWith('-') && !withValue.includes(argv[at - 1] ?? ''));
}

function commanderOutput(io: Io) {
  const { stdout, stderr } = io;
  return {
    writeOut: (text: string) => void stdout.write(asCalled(io, text)).catch(() => {}),
    writeErr: (text: string) => void stderr.write(asCalled(io, text)).catch(() => {}),
    getOutHelpWidth: () => stdout.columns,
    getErrHelpWidth: () => stderr.columns,
    // Errors are thrown, and told in one place.
    outputError: () => {},
  };
}
