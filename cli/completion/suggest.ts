import {
  type Argument,
  allOptions,
  commandsBelow,
  isRepeatable,
  type Option,
  takesValue,
  valueName,
} from '../command-metadata.ts';
import type { AnyCommand } from '../commander.ts';

/** The possible next words, or `files` to let the shell complete file names. */
type Suggestions = 'files' | Suggestion[];
type Suggestion = { value: string; description: string };

type Place = {
  command: AnyCommand;
  /** The number of arguments that are already present. */
  count: number;
  used: Set<Option>;
  open: Option | undefined;
  /** After --, a word that begins with a dash is an argument. */
  onlyArguments: boolean;
};

export function suggest(program: AnyCommand, line: string): Suggestions {
  const { words, current } = readLine(line);
  const [first, ...rest] = words;
  if (first === 'help' && !current.startsWith('-')) {
    return startingWith(current, commandsOf(walk(program, rest).command));
  }
  const place = walk(program, words);
  const { command, count, open, onlyArguments } = place;
  if (open !== undefined) return valuesOf(open, current);
  if (!onlyArguments && current.startsWith('-')) return optionsAt(place, current);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[count] ?? (last?.variadic ? last : undefined);
  if (argument !== undefined) return valuesOf(argument, current);
  const commands = commandsOf(command);
  if (commands.length > 0) return count === 0 ? startingWith(current, commands) : [];
  // If nothing else can follow, suggest the remaining options.
  return current === '' && !onlyArguments ? optionsAt(place, '--') : [];
}

function walk(program: AnyCommand, words: string[]): Place {
  const place: Place = {
    command: program,
    count: 0,
    used: new Set(),
    open: undefined,
    onlyArguments: false,
  };
  for (const word of words) step(place, word);
  return place;
}

function step(place: Place, word: string): void {
  const { command, count, open, onlyArguments } = place;
  if (open !== undefined) {
    place.open = undefined;
  } else if (word === '--') {
    place.onlyArguments = true;
  } else if (!onlyArguments && word.startsWith('-') && word !== '-') {
    const [flag, ...value] = word.split('=');
    const option = allOptions(command).find(({ long, short }) => flag === long || flag === short);
    if (option === undefined) return;
    place.used.add(option);
    if (takesValue(option) && value.length === 0) place.open = option;
  } else {
    const below = command.commands.find((one) => count === 0 && one.name() === word);
    if (below === undefined) place.count += 1;
    else place.command = below;
  }
}

function commandsOf(command: AnyCommand): Suggestion[] {
  return commandsBelow(command).map((one) => ({
    value: one.name(),
    description: one.description(),
  }));
}

/** Returns the long options with this prefix or, after `--option=`, the values of the option. */
function optionsAt({ command, used }: Place, current: string): Suggestions {
  const options = allOptions(command);
  const [, flag, begun = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag === undefined) {
    const left = options.filter((option) => !used.has(option) || isRepeatable(option));
    return startingWith(
      current,
      left.map(({ long = '', description }) => ({ value: long, description })),
    );
  }
  const option = options.find(({ long }) => long === flag);
  const values = option === undefined ? [] : valuesOf(option, begun);
  if (values === 'files') return values;
  return values.map(({ value, description }) => ({ value: `${flag}=${value}`, description }));
}

function valuesOf(one: Option | Argument, current: string): Suggestions {
  const name = 'flags' in one ? valueName(one) : one.name();
  if (/\b(?:file|path)\b/.test(name ?? '')) return 'files';
  const choices = one.argChoices ?? [];
  return startingWith(
    current,
    choices.map((value) => ({ value, description: '' })),
  );
}

function startingWith(begun: string, all: Suggestion[]): Suggestion[] {
  return all.filter(({ value }) => value !== '' && value.startsWith(begun));
}

/* Parses an unfinished command line like a shell. */

const word = /(?:[^\s'"\\]|\\(?:.|$)|'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|\\?$))+/gs;
const program = /\bmemory(?:\.\w+)?$/;

/** Returns the words after the program's name, and the word being typed, which may be empty. */
export function readLine(line: string): { words: string[]; current: string } {
  const found = [...line.matchAll(word)];
  const words = found.map(([text]) => unquoted(text));
  const last = found.at(-1);
  const isBegun = last !== undefined && last.index + last[0].length === line.length;
  const current = (isBegun ? words.pop() : undefined) ?? '';
  // The name may follow npx or environment variables.
  const named = Math.max(
    0,
    words.findIndex((text) => program.test(text)),
  );
  return { words: words.slice(named + 1), current };
}

function unquoted(text: string): string {
  return text.replace(/\\(.)|['"]/gs, '$1');
}
