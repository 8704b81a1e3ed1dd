import { type AnyCommand, CommanderError } from './commander.ts';
import { isCommand, loadCommand } from './commands.ts';
import { describeError, tellFailure } from './describe.ts';
import { ExitWith, exitCodes } from './failure.ts';
import { type Io, withoutColor } from './io.ts';
import { OutputClosed } from './process-output.ts';
import { commandWord, createRoot, HelpAsJson } from './root.ts';

/** Runs one command line and says what the process should end with. */
export async function run(argv: string[], processIo: Io): Promise<number> {
  const io = argv.includes('--no-color') ? withoutColor(processIo) : processIo;
  const program = await programFor(argv, io);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' }).catch((error) => {
      if (error instanceof HelpAsJson) return printHelpAsJson(io, error.words);
      throw error;
    });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const failure = await describeError(io, error, { called, ...program.opts() });
    // Where stdout is full or closed, stderr may still be read.
    await tellFailure(io, program.opts().json, failure).catch(() =>
      tellFailure(io, undefined, failure),
    );
    return failure.exitCode;
  }
}

async function printHelpAsJson(io: Io, words: string[]): Promise<void> {
  const { printReference } = await import('./commands/help.ts');
  await printReference(io, words);
}

/** With the one command that is called; with all of them for the help, or to find the meant one. */
async function programFor(argv: string[], io: Io) {
  const word = commandWord(argv);
  if (!isCommand(word)) return (await import('./program.ts')).createProgram(io);
  const program = createRoot(io);
  const add = await loadCommand(word);
  add(program, io);
  return program;
}
