import { addExamples, commandAt } from '../command-metadata.ts';
import { type AnyCommand, Argument, type Parent } from '../commander.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addHelp(program: Parent, term: Terminal, load: () => Promise<AnyCommand>): void {
  const command = program
    .command('help')
    .addArgument(new Argument('[command...]', 'the command (default: all commands)'))
    .description('Show help for a command or, with --json, for all commands.');
  command.action(async (words) => {
    const whole = await load();
    if (!command.optsWithGlobals().json) return commandAt(whole, words).outputHelp();
    const { printHelpAsJson } = await import('../help-json.ts');
    await printHelpAsJson(term, whole, words);
  });
  addExamples(command, ['memory help ingest batch', 'memory help --json']);
}
