import { type AnyCommand, addExamples, commandAt, type Parent } from '../commander.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addHelp(program: Parent, _: Terminal, load: () => Promise<AnyCommand>): void {
  const command = program
    .command('help')
    .argument('[command...]', 'the command (default: all commands)')
    .description('Show help for a command.');
  command.action(async (words) => commandAt(await load(), words).outputHelp());
  addExamples(command, ['memory help ingest batch']);
}
