import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../server/admin.ts';
import { addExamples, type Parent } from '../commander.ts';
import { databaseOption, onDatabase } from '../database.ts';
import { CliError, exitCodes, exitWith, usageError } from '../errors.ts';
import { type Column, printJson, printLine, printResult, printTable } from '../terminal/output.ts';
import { OutputClosed } from '../terminal/process-output.ts';
import { asCalled, hint, note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf } from '../terminal/text.ts';

export function addBackup(program: Parent, term: Terminal): void {
  const command = program
    .command('backup')
    .argument('<file>', 'the target file; - for stdout')
    .description(
      'Back up the database to a file and verify the backup. Works whether or not the server is running.',
    )
    .addOption(databaseOption);
  command.action(async (file) => {
    const { json, database } = command.optsWithGlobals();
    if (file === '-') return streamBackup(term, json, database);
    const copied = await onDatabase(term, database, ({ backup }, url) => backup(url, file));
    await storeBackupTime(term, database);
    await printResult(term, json, { file, ...copied }, file);
    if (json) return;
    const done = `Backed up ${memoriesOf(copied.memories)}.`;
    await hint(term, `${done} To restore the backup: memory restore ${file}`);
  });
  addExamples(command, ['memory backup memory-backup.db', 'memory backup - | gzip > backup.db.gz']);
}

/** Writes the backup to a private file, verifies it, and copies it to stdout. */
async function streamBackup(term: Terminal, json: true | undefined, database: string | undefined) {
  if (term.stdout.isTerminal) {
    throw usageError(
      'A backup is binary and is not written to a terminal.',
      'For example: memory backup - > memory-backup.db',
    );
  }
  if (json) throw usageError('--json cannot be used with -, which writes the backup to stdout.');
  const folder = await mkdtemp(join(tmpdir(), 'memory-backup-'));
  try {
    const file = join(folder, 'backup.db');
    const copied = await onDatabase(term, database, ({ backup }, url) => backup(url, file));
    await copyToStdout(term, file);
    await storeBackupTime(term, database);
    await note(term, `Backed up ${memoriesOf(copied.memories)}, ${copied.bytes} bytes.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The metrics show when the last backup was made. The backup itself does not depend on this. */
async function storeBackupTime(term: Terminal, database: string | undefined): Promise<void> {
  try {
    await onDatabase(term, database, ({ storeBackupTime }, url) => storeBackupTime(url));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await note(term, `The time of this backup could not be stored in the database: ${reason}`);
  }
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
  command.action(async () => {
    const { json, database } = command.optsWithGlobals();
    const findings = await onDatabase(term, database, (admin, url) => admin.doctor(url));
    if (json) await printJson(term, { items: findings });
    else await printFindings(term, findings);
    const failed = findings.some(({ level }) => level === 'failure');
    exitWith(failed ? exitCodes.failed : exitCodes.done);
  });
  addExamples(command, ['memory doctor']);
}
