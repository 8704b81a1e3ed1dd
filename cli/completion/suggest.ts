import {
  type AnyCommand,
  allOptions,
  type CommandArgument,
  type CommandOption,
  isRepeatable,
  takesValue,
  valueName,
} from '../commander.ts';

/** The possible next words, or `files` to let the shell complete file names. */
type Suggestions = 'files' | Suggestion[];
type Suggestion = { value: string; description: string };

type Place = ReturnType<typeof walk>;

export function suggest(program: AnyCommand, line: string): Suggestions {
  const { words, current } = readLine(line);
  const found = candidates(program, words, current);
  return found === 'files' ? found : found.filter(({ value }) => value.startsWith(current));
}

function candidates(program: AnyCommand, words: string[], current: string): Suggestions {
  const [first, ...rest] = words;
  if (first === 'help' && !current.startsWith('-')) return commandsOf(walk(program, rest).command);
  const place = walk(program, words);
  const { command, count, open, onlyArguments } = place;
  if (open !== undefined) return valuesOf(open);
  if (!onlyArguments && current.startsWith('-')) return optionsAt(place, current);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[count] ?? (last?.variadic ? last : undefined);
  if (argument !== undefined) return valuesOf(argument);
  const commands = commandsOf(command);
  if (commands.length > 0) return count === 0 ? commands : [];
  // If nothing else can follow, suggest the remaining options.
  return current === '' && !onlyArguments ? optionsAt(place, '') : [];
}

/** Follows the complete words of the line through commands, options and arguments. */
function walk(program: AnyCommand, words: string[]) {
  let command = program;
  let count = 0;
  const used = new Set<CommandOption>();
  // The option whose value is the next word.
  let open: CommandOption | undefined;
  // After --, a word that begins with a dash is an argument.
  let onlyArguments = false;
  for (const word of words) {
    if (open !== undefined) {
      open = undefined;
    } else if (word === '--') {
      onlyArguments = true;
    } else if (!onlyArguments && word.startsWith('-') && word !== '-') {
      const [flag, ...value] = word.split('=');
      const option = allOptions(command).find(({ long, short }) => flag === long || flag === short);
      if (option === undefined) continue;
      used.add(option);
      if (takesValue(option) && value.length === 0) open = option;
    } else {
      const below = command.commands.find((one) => count === 0 && one.name() === word);
      if (below === undefined) count += 1;
      else command = below;
    }
  }
  return { command, count, used, open, onlyArguments };
}

function commandsOf(command: AnyCommand): Suggestion[] {
  const commands = command.createHelp().visibleCommands(command);
  return commands.map((one) => ({ value: one.name(), description: one.description() }));
}

/** Returns the unused long options or, after `--option=`, the values of the option. */
function optionsAt({ command, used }: Place, current: string): Suggestions {
  const options = allOptions(command);
  const [prefix, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  if (prefix === undefined) {
    const left = options.filter((option) => !used.has(option) || isRepeatable(option));
    return left.map(({ long = '', description }) => ({ value: long, description }));
  }
  const option = options.find(({ long }) => long === flag);
  const values = option === undefined ? [] : valuesOf(option);
  if (values === 'files') return values;
  return values.map((one) => ({ ...one, value: prefix + one.value }));
}

function valuesOf(one: CommandOption | CommandArgument): Suggestions {
  const name = 'flags' in one ? valueName(one) : one.name();
  if (/\b(?:file|path)\b/.test(name ?? '')) return 'files';
  return (one.argChoices ?? []).map((value) => ({ value, description: '' }));
}

/* Parses an incomplete command line as a shell does. */

const word = /(?:[^\s'"\\]|\\(?:.|$)|'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$))+/gs;
const program = /\bmemory(?:\.\w+)?$/;

/** Returns the words after the program's name, and the word being typed, which may be empty. */
function readLine(line: string): { words: string[]; current: string } {
  const found = [...line.matchAll(word)];
  const words = found.map(([text]) => unquoted(text));
  const last = found.at(-1);
  const isBegun = last !== undefined && last.index + last[0].length === line.length;
  const current = (isBegun ? words.pop() : undefined) ?? '';
  // npx or environment variables may precede the program name.
  const named = words.findIndex((text) => program.test(text));
  return { words: words.slice(Math.max(0, named) + 1), current };
}

function unquoted(text: string): string {
  return text.replace(/\\(.)|['"]/gs, '$1');
}
