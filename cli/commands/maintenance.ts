import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding, Restored } from '../../server/admin.ts';
import { addHelp, type Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, onDatabase, shownDatabase } from '../database.ts';
import { CliError, errorCode, errorText, exitCodes, usageError } from '../errors.ts';
import { parseFile } from '../options.ts';
import { inputName, readBytes } from '../terminal/input.ts';
import {
  type Column,
  printJson,
  printLine,
  printResult,
  printTable,
  resilientOutput,
} from '../terminal/output.ts';
import { OutputClosed } from '../terminal/process-output.ts';
import { asCalled, note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine, memoriesOf, quoted } from '../terminal/text.ts';

export function addBackup(program: Parent, term: Terminal): void {
  const command = program
    .command('backup')
    .argument('<file>', 'the target file; - for stdout', parseFile)
    .description(
      'Back up the database to a file and verify the backup. Works whether or not the server is running.',
    )
    .addOption(databaseOption);
  command.action(async (file, { database }) => {
    const toStdout = file === '-';
    if (toStdout && (term.stdout.isTerminal || term.options.json)) {
      const problem = 'With -, stdout is the backup itself: redirect it, and omit --json.';
      throw usageError(problem, 'For example: memory backup - > backup.db');
    }
    const copied = await withFile(file, async (path) => {
      const contents = await onDatabase(term, database, ({ backup }, url) => backup(url, path));
      if (toStdout) await copyToStdout(term, path);
      return contents;
    });
    // The metrics show when the last backup was made. The backup itself does not depend on this.
    await onDatabase(term, database, (admin, url) => admin.storeBackupTime(url)).catch((error) => {
      const problem = 'The time of this backup could not be stored in the database';
      return note(term, `${problem}: ${errorText(error)}`);
    });
    const done = `Backed up ${memoriesOf(copied.memories)}.`;
    if (toStdout) return note(term, done);
    const target = database === undefined ? '' : ` --database ${quoted(database)}`;
    const next = `To restore the backup: memory restore ${quoted(file)}${target}`;
    await printResult(term, { file, ...copied }, file, `${done} ${next}`);
  });
  addHelp(command, '', ['memory backup memory-backup.db', 'memory backup - | gzip > backup.db.gz']);
}

async function copyToStdout(term: Terminal, file: string): Promise<void> {
  try {
    for await (const piece of Bun.file(file).stream()) {
      term.interrupted.throwIfAborted();
      await term.stdout.write(piece);
    }
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
    // A list cut short by `head` is not an error, but a partial backup is.
    throw new CliError('output_closed', 'stdout was closed early: the backup is incomplete.');
  }
}

export function addRestore(program: Parent, term: Terminal): void {
  const command = program
    .command('restore')
    .argument('<file>', 'the backup file; - for stdin', parseFile)
    .description('Replace the database with a backup. The server must be stopped.')
    .option('--erase-again', 'erase the users who were erased since the backup')
    .addOption(databaseOption);
  command.action(async (file, { database, eraseAgain = false }) => {
    const restored = await withFile(file, async (backup) => {
      if (file === '-') await receive(term, backup);
      const run = ({ restore }: typeof import('../../server/admin.ts'), url: string) =>
        restore(url, backup, { eraseAgain });
      return onDatabase(term, database, run).catch((error: Error) => {
        // The name of a temporary file means nothing to the user.
        error.message = error.message.replaceAll(backup, inputName(file));
        throw error;
      });
    });
    const path = shownDatabase(term, databaseUrlOf(term, database));
    const done = `Restored ${memoriesOf(restored.memories)} to ${path}.`;
    const result = { file, database: path, ...restored };
    await printResult(term, result, path, done, ...consequencesOf(restored));
  });
  addHelp(command, '', [
    'memory restore memory-backup.db',
    'gunzip -c backup.db.gz | memory restore -',
  ]);
}

async function receive(term: Terminal, path: string): Promise<void> {
  try {
    await writeFile(path, readBytes(term, '-'));
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
    throw new CliError('failed', `the disk of ${tmpdir()} is too full for the backup`);
  }
}

/** With -, uses a private temporary file, because SQLite neither reads nor writes a stream. */
async function withFile<Result>(
  file: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  if (file !== '-') return use(file);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'memory-'));
  return await use(join(folder.path, 'backup.db'));
}

const maxNamed = 20;

/** Describes what the restore kept from the previous database, and what it may have undone. */
function consequencesOf(restored: Restored): string[] {
  const { kept, revokedKeys, broughtBackUsers, erasedAgain, unchecked } = restored;
  const lines: string[] = [];
  if (kept !== null) lines.push(`The previous database was kept as ${kept}`);
  if (revokedKeys.length > 0) {
    const keys = revokedKeys.map(({ id, name, project }) => `${id} (${name}, project ${project})`);
    lines.push(`Keys revoked since the backup stay revoked: ${listOf(keys)}.`);
  }
  if (broughtBackUsers.length > 0) {
    const users = broughtBackUsers.map(({ userId, project }) => `${userId} (project ${project})`);
    const back =
      `The backup contains users who had none of these memories left, probably because they were ` +
      `erased: ${listOf(users)}. To erase one again: memory delete --user <id>`;
    const erased = `Users erased since the backup were erased again: ${listOf(users)}.`;
    lines.push(erasedAgain ? erased : back);
  }
  if (unchecked !== null) {
    lines.push(`Keys revoked and users erased since the backup are not known: ${unchecked}.`);
  }
  return lines;
}

function listOf(names: string[]): string {
  const more = names.length - maxNamed;
  const shown = names.slice(0, maxNamed).map(escapeLine).join(', ');
  return more > 0 ? `${shown} and ${more} more (all with --json)` : shown;
}

const columns: Column<Finding>[] = [
  { title: 'CHECK', value: ({ name }) => name },
  { title: 'STATE', value: ({ level }) => level },
  { title: 'FOUND', value: ({ found }) => found },
];

/** A terminal shows the advice below the table, because it is too long for a column. */
async function printFindings(term: Terminal, findings: Finding[]): Promise<void> {
  const adviceOf = ({ advice = '' }: Finding) => asCalled(term, advice);
  if (!term.stdout.isTerminal) {
    return printTable(term, [...columns, { title: 'ADVICE', value: adviceOf }], findings);
  }
  await printTable(term, columns, findings);
  for (const one of findings) {
    if (one.advice !== undefined) await printLine(term, `${one.name}: ${adviceOf(one)}`);
  }
}

export function addDoctor(program: Parent, term: Terminal): void {
  const command = program
    .command('doctor')
    .description('Check the database and suggest fixes. Exits with status 1 if a check fails.')
    .addOption(databaseOption);
  command.action(async ({ database }) => {
    const findings = await onDatabase(term, database, (admin, url) => admin.doctor(url));
    const out = resilientOutput(term);
    if (term.options.json) await printJson(out.term, { items: findings });
    else await printFindings(out.term, findings);
    const failed = findings.some(({ level }) => level === 'failure');
    out.end(failed ? exitCodes.failed : exitCodes.done);
  });
  addHelp(command, '', ['memory doctor']);
}
