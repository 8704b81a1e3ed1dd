import {
  type AnyCommand,
  Argument,
  addHelp,
  allOptions,
  type CommandOption,
  type Parent,
} from '../commander.ts';
import { printResult } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';

/* Tab completion. The scripts of all shells call `memory __complete` with the words of the line. */

/** If there are no suggestions, the shell completes file names. */
const completionScripts = {
  bash: `_memory() {
  local IFS=$'\\n'
  COMPREPLY=($(memory __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _memory memory`,

  zsh: `_memory() {
  local -a found
  found=("\${(@f)$(memory __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)\${(@)found:#}/$'\\t'/:}")
  if (( $#found )); then _describe memory found; else compset -P '--*='; _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _memory memory`,

  fish: `function __memory_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (memory __complete $words[2..] 2>/dev/null)
    if test -n "$found"
        string join -- \\n $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c memory -f -a '(__memory_complete)'`,
};

type Shell = keyof typeof completionScripts;
const shells = Object.keys(completionScripts) as Shell[];

export function addCompletion(program: Parent, term: Terminal): void {
  const command = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .description('Print a shell completion script for commands and options.');
  command.action(async (shell) => {
    const script = completionScripts[shell];
    await printResult(term, { shell, script }, script);
  });
  addHelp(command, help, ['memory completion bash']);
}

const help = `
To enable completion in every new shell:
  bash   add to ~/.bashrc:     source <(memory completion bash)
  zsh    add to ~/.zshrc:      source <(memory completion zsh)
  fish   add to config.fish:   memory completion fish | source`;

type Suggestion = { value: string; description: string };

/** Prints the possible values of the last word, one a line, each with its description. */
export async function printCompletions(term: Terminal, program: AnyCommand, words: string[]) {
  const found = suggestions(program, words);
  const lines = found.map(({ value, description }) => `${value}\t${description}\n`);
  await term.stdout.write(lines.join(''));
}

function suggestions(program: AnyCommand, words: string[]): Suggestion[] {
  // Bash separates the words of `--order=desc` at the equals sign.
  const typed = words.filter((word) => word !== '=');
  const last = typed.pop() ?? '';
  // Other shells pass `--order=d` as one word.
  const [prefix = '', flag] = /^(--[^=]+)=/.exec(last) ?? [];
  if (flag !== undefined) typed.push(flag);
  const current = last.slice(prefix.length);
  const { command, count, open } = positionAfter(program, typed);
  const named = (values: readonly string[] = []) =>
    values.map((value) => ({ value, description: '' }));
  const optionsOf = () =>
    allOptions(command).map(({ long = '', description }) => ({ value: long, description }));
  const below = command.createHelp().visibleCommands(command);
  const all =
    open !== undefined
      ? named(open.argChoices)
      : current.startsWith('-')
        ? optionsOf()
        : [
            ...named(command.registeredArguments[count]?.argChoices),
            ...below.map((one) => ({ value: one.name(), description: one.description() })),
          ];
  const found = all.filter(({ value }) => value.startsWith(current));
  return found.map((one) => ({ ...one, value: prefix + one.value }));
}

/** Returns the command of the words, its number of arguments, and the option that has no value. */
function positionAfter(program: AnyCommand, words: string[]) {
  let [command, count] = [program, 0];
  let open: CommandOption | undefined;
  for (const word of words) {
    const option = allOptions(command).find(({ long, short }) => word === long || word === short);
    const next = command.commands.find((one) => count === 0 && one.name() === word);
    if (open !== undefined) open = undefined;
    else if (option !== undefined) open = option.required ? option : undefined;
    else if (next !== undefined && next.name() !== 'help') command = next;
    else if (!word.startsWith('-') && word !== 'help') count += 1;
  }
  return { command, count, open };
}
