import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Restored } from '../../server/admin.ts';
import { addExamples, type Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, onDatabase, shownDatabase } from '../database.ts';
import { usageError } from '../errors.ts';
import { readBytes } from '../terminal/input.ts';
import { printResult } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeLine, memoriesOf } from '../terminal/text.ts';

export function addRestore(program: Parent, term: Terminal): void {
  const command = program
    .command('restore')
    .argument('<file>', 'the backup file; - for stdin')
    .description('Replace the database with a backup. The server must be stopped.')
    .option('--erase-again', 'erase the users who were erased since the backup')
    .addOption(databaseOption);
  command.action(async (file) => {
    const { json, database, eraseAgain = false } = command.optsWithGlobals();
    const restored = await withBackup(term, file, (backup) =>
      onDatabase(term, database, ({ restore }, url) => restore(url, backup, { eraseAgain })),
    );
    const path = shownDatabase(databaseUrlOf(term, database));
    await printResult(term, json, { file, database: path, ...restored }, path);
    if (json) return;
    await note(term, `Restored ${memoriesOf(restored.memories)} to ${path}.`);
    for (const line of consequencesOf(restored)) await note(term, line);
  });
  addExamples(command, [
    'memory restore memory-backup.db',
    'gunzip -c backup.db.gz | memory restore -',
  ]);
}

/** Copies stdin to a private file first, because SQLite cannot read a stream. */
async function withBackup<Result>(
  term: Terminal,
  file: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  if (file !== '-') return use(file);
  if (term.stdin.isTerminal) {
    throw usageError('A backup is not read from a terminal.', 'For example: memory restore <file>');
  }
  const folder = await mkdtemp(join(tmpdir(), 'memory-restore-'));
  try {
    const copy = join(folder, 'stdin');
    await writeFile(copy, readBytes(term, '-'));
    return await use(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
