import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { run } from '../../cli/run.ts';
import type { Output } from '../../cli/terminal/process-output.ts';
import { temporaryFolder } from '../support/folder.ts';
import type { TestServer } from '../support/server.ts';
import { testTerminal } from './command.ts';

/*
 * A transcript is a text file of what a user types and sees. A line that begins with `$ ` is a
 * command; its stdout follows, its stderr behind `! `, and `[exit 2]` if it fails. Commands run on
 * a terminal that is 80 columns wide. Besides `memory`, a transcript may contain:
 *
 *   $ cat > file <<END        writes the lines up to END to a file
 *   $ cat file                prints a file
 *   $ echo text | memory …    passes a line on stdin; also `memory … < file`
 *   $ memory … | cat          writes stdout to a pipe
 *   $ COLUMNS=120 memory …    sets environment variables, or the width of the terminal
 *
 * Ids, keys, times and ports are replaced by numbered or fixed values, which commands can use. The
 * global options and --help are shown only in the help of `memory`; help.test.ts compares them.
 */

const columns = 80;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** Times that depend on the clock are shown as one fixed time. */
function shownTime(text: string): string {
  const isNear = Math.abs(Date.parse(text) - Date.now()) < 60 * 86_400_000;
  return isNear ? '2026-05-08T13:56:07.000Z' : text;
}

const helpOption = / {2}-h, --help +show help\n(?=\nGlobal Options:\n)/;
const globalOptions = /(?<=\nGlobal Options:\n.*) {2}-V, --version.*?from the profile\n/s;
const emptyList = /\n(?:Global )?Options:\n(?=\n)/g;
const maskedKey = /\bmk_\w{4}…\w{4}\b/g;
const cursor = /\bWy[\w-]{24,}/g;
const partOfKey = /(lastFour\W+|prefix\W+mk_)\w{4}\b/g;
const ids = /\b(mem|req|key)_[0-9a-f]{32}\b|\bmk_\w{38}\b|\b(?:[0-9a-f]{8})-(?:[0-9a-f-]{27})\b/g;

/** Runs the commands of a transcript and returns it with the real output. */
export async function replay(text: string, server: TestServer, project: string): Promise<string> {
  using folder = temporaryFolder();
  const key = await server.createKey(project);
  const names = namesOf([server.url, 'http://127.0.0.1:7070'], [folder.path, '/u/ada']);
  const database = `sqlite:${folder.path}/data/memory.db`;
  const service = { MEMORY_BASE_URL: server.url, MEMORY_API_KEY: key };
  const env = { ...service, MEMORY_DATABASE_URL: database, PATH: '' };
  const blocks: string[] = [];
  let comments = '';
  const lines = text.split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line.startsWith('#') || (line === '' && comments !== '')) comments += `${line}\n`;
    // All other lines are the output of the last run.
    if (!line.startsWith('$ ')) continue;
    const [, file] = /^\$ cat > (\S+) <<END$/.exec(line) ?? [];
    if (file === undefined) {
      const output = await runLine(names.real(line.slice(2)), folder, env);
      blocks.push(`${comments}${line}\n${names.shown(output)}`);
    } else {
      const content = lines.splice(0, lines.indexOf('END') + 1).join('\n');
      mkdirSync(dirname(folder.file(file)), { recursive: true });
      writeFileSync(folder.file(file), names.real(content.replace(/END$/, '')));
      blocks.push(`${comments}${line}\n${content}\n`);
    }
    comments = '';
  }
  return blocks.join('\n');
}

type Folder = { path: string; file(name: string): string };

async function runLine(line: string, folder: Folder, defaults: Record<string, string>) {
  const [, file] = /^cat (\S+)$/.exec(line) ?? [];
  if (file !== undefined) return readFileSync(folder.file(file), 'utf8');
  const { words, env, stdin, isPiped } = parse(line, folder);
  const width = Number(env.COLUMNS ?? columns);
  let [shown, open] = ['', ''];
  const output = (mark: string, isTerminal: boolean): Output => ({
    isTerminal,
    columns: width,
    color: false,
    async write(data) {
      for (const one of String(data).match(/[^\n]*\n|[^\n]+$/g) ?? []) {
        shown +=
          open === mark
            ? one
            : `${open === '' ? '' : '\n'}${`${mark}${one}`.replace(/^! \n/, '!\n')}`;
        open = one.endsWith('\n') ? '' : mark;
      }
    },
  });
  const code = await run(words, {
    ...testTerminal({ env: { ...defaults, ...env }, home: folder.path, cwd: folder.path, stdin }),
    stdout: output('', !isPiped),
    stderr: output('! ', true),
    // All ages are 0s.
    now: () => startedAt,
  });
  return `${shown}${open === '' ? '' : '\n'}${code === 0 ? '' : `[exit ${code}]\n`}`;
}

const startedAt = Date.now();

/** Parses the few forms of a shell's command line that transcripts use. */
export function parse(line: string, folder: Folder) {
  const [, echoed, command = line] = /^echo (.*?) \| (.*)$/.exec(line) ?? [];
  const isPiped = command.endsWith(' | cat');
  const [, called = '', file] = /^(.*?)(?: \| cat)?(?: < (\S+))?$/.exec(command) ?? [];
  const all = wordsOf(called);
  const at = all.indexOf('memory');
  const env = Object.fromEntries(all.slice(0, at).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  const stdin =
    file === undefined
      ? `${echoed?.replace(/^(['"])(.*)\1$/, '$2')}\n`
      : readFileSync(folder.file(file), 'utf8');
  return { words: all.slice(at + 1), env, stdin: echoed || file ? stdin : '', isPiped };
}

/** Splits a command into words, as a shell does. */
export function wordsOf(command: string): string[] {
  return [...command.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

/** Replaces what differs between runs by names, and back. */
function namesOf(...fixed: [real: string, name: string][]) {
  const names = new Map(fixed);
  const nameFor = (id: string): string => {
    const prefix = /^(?:mem|req|key|mk)_/.exec(id)?.[0] ?? '';
    const count = [...names.values()].filter((name) => name.startsWith(prefix)).length;
    const name =
      names.get(id) ?? prefix + String(count + 1).padStart(id.length - prefix.length, '0');
    names.set(id, name);
    return name;
  };
  return {
    shown(text: string): string {
      const plain = fixed.reduce((all, [real, name]) => all.replaceAll(real, name), text);
      return plain
        .replace(helpOption, '')
        .replace(globalOptions, '')
        .replace(emptyList, '')
        .replace(ids, nameFor)
        .replace(time, shownTime)
        .replace(maskedKey, 'mk_abcd…wxyz')
        .replace(partOfKey, '$1wxyz')
        .replace(cursor, 'a-cursor');
    },
    real(text: string): string {
      return [...names].reduce((all, [real, name]) => all.replaceAll(name, real), text);
    },
  };
}
