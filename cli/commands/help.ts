import {
  type AnyCommand,
  Argument,
  addExamples,
  addNotes,
  commandAt,
  Option,
  type Parent,
} from '../commander.ts';
import { scripts, shells } from '../completion/scripts.ts';
import { usageError } from '../errors.ts';
import { printLine, printResult } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Load = () => Promise<AnyCommand>;

export function addHelp(program: Parent, term: Terminal, load: Load): void {
  const command = program
    .command('help')
    .argument('[command...]', 'the command (default: all commands)')
    .description('Show help for a command or, with --json, for all commands.');
  command.action(async (words) => {
    const whole = await load();
    if (!command.optsWithGlobals().json) return commandAt(whole, words).outputHelp();
    const { printHelpAsJson } = await import('../help-json.ts');
    await printHelpAsJson(term, whole, words);
  });
  addExamples(command, ['memory help ingest batch', 'memory help --json']);
}

export function addCompletion(program: Parent, term: Terminal, load: Load): void {
  const command = program
    .command('completion')
    .usage('<shell>')
    .addArgument(new Argument('[shell]', 'the shell').choices(shells))
    .description('Print a shell completion script for commands and options.')
    .addOption(
      new Option('--line <text>', 'print the completions of this line, for the script').hideHelp(),
    );
  command.action(async (shell) => {
    const { json, line } = command.optsWithGlobals();
    if (line !== undefined) return printSuggestions(term, await load(), line);
    if (shell === undefined) {
      throw usageError(`Missing <shell>: choose one of ${shells.join(', ')}.`);
    }
    const script = scripts[shell];
    await printResult(term, json, { shell, script }, script);
  });
  addNotes(command, help);
  addExamples(command, ['memory completion bash', 'memory completion zsh > _memory']);
}

/** Prints each word with its description. The scripts of some shells drop the descriptions. */
async function printSuggestions(term: Terminal, program: AnyCommand, line: string): Promise<void> {
  const { suggest } = await import('../completion/suggest.ts');
  const suggestions = suggest(program, line);
  if (suggestions === 'files') return printLine(term, ':files');
  for (const { value, description } of suggestions) {
    await printLine(term, description ? `${value}\t${description}` : value);
  }
}

const help = `
To enable completion in every new shell:
  bash        add to ~/.bashrc:   source <(memory completion bash)
  zsh         add to ~/.zshrc:    source <(memory completion zsh)
  fish        once:
    memory completion fish > ~/.config/fish/completions/memory.fish
  powershell  add to $PROFILE:
    memory completion powershell | Out-String | Invoke-Expression`;
