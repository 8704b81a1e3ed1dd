import { isCommand } from './command-names.ts';
import { type AnyCommand, CommanderError } from './commander.ts';
import { ExitWith, exitCodes } from './errors.ts';
import { commandWord, createProgram, HelpAsJson } from './program.ts';
import { describeError, reportFailure } from './report-error.ts';
import { OutputClosed } from './terminal/process-output.ts';
import { type Terminal, withoutColor } from './terminal/terminal.ts';

export async function run(argv: string[], processTerminal: Terminal): Promise<number> {
  const term = argv.includes('--no-color') ? withoutColor(processTerminal) : processTerminal;
  const word = commandWord(argv);
  // Without a known command, load all of them for the help or for a spelling suggestion.
  const program = await createProgram(term, isCommand(word) ? [word] : undefined);
  let called: AnyCommand = program;
  for (const parent of [program, ...program.commands]) {
    parent.hook('preSubcommand', (_, command) => {
      called = command;
    });
  }
  try {
    await program.parseAsync(argv, { from: 'user' }).catch((error) => {
      if (error instanceof HelpAsJson) return printHelpAsJson(term, error.words);
      throw error;
    });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ExitWith) return error.exitCode;
    if (error instanceof OutputClosed) return exitCodes.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const failure = await describeError(term, error, { called, ...program.opts() });
    // If stdout is full or closed, stderr may still work.
    await reportFailure(term, program.opts().json, failure).catch(() =>
      reportFailure(term, undefined, failure),
    );
    return failure.exitCode;
  }
}

async function printHelpAsJson(term: Terminal, words: string[]): Promise<void> {
  const help = await import('./help-json.ts');
  await help.printHelpAsJson(term, await createProgram(term), words);
}
