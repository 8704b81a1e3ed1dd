import { type AnyCommand, Argument, addExamples, commandAt, type Parent } from '../commander.ts';
import { completionScripts } from '../completion.ts';
import { printResult } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function addHelp(program: Parent, _: Terminal, load: () => Promise<AnyCommand>): void {
  const command = program
    .command('help')
    .argument('[command...]', 'the command (default: all commands)')
    .description('Show help for a command.');
  command.action(async (words) => commandAt(await load(), words).outputHelp());
  addExamples(command, ['memory help ingest batch']);
}

type Shell = keyof typeof completionScripts;
const shells = Object.keys(completionScripts) as Shell[];

export function addCompletion(program: Parent, term: Terminal): void {
  const command = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .description('Print a shell completion script for commands and options.');
  command.action(async (shell) => {
    const script = completionScripts[shell];
    await printResult(term, command.optsWithGlobals().json, { shell, script }, script);
  });
  command.addHelpText('after', help);
  addExamples(command, ['memory completion bash']);
}

const help = `
To enable completion in every new shell:
  bash   add to ~/.bashrc:     source <(memory completion bash)
  zsh    add to ~/.zshrc:      source <(memory completion zsh)
  fish   add to config.fish:   memory completion fish | source`;
