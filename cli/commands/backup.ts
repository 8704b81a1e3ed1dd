import type { Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, onDatabase, shownDatabase } from '../database.ts';
import { addExamples } from '../examples.ts';
import { hint, type Io, note } from '../io.ts';
import { printResult } from '../output.ts';
import { memoriesOf } from '../text.ts';

export function addBackup(program: Parent, io: Io): void {
  const command = program
    .command('backup')
    .argument('<file>', 'where the copy goes')
    .description('Copy the database to a file, checked, while the server may go on.')
    .addOption(databaseOption);
  command.action(async (file) => {
    const { json, database } = command.optsWithGlobals();
    const { memories, bytes } = await onDatabase(io, database, (admin, url) =>
      admin.backup(url, file),
    );
    await printResult(io, json, { file, memories, bytes }, file);
    if (!json) await hint(io, `${memoriesOf(memories)}. To put it back: memory restore ${file}`);
  });
  addExamples(command, ['memory backup memory-backup.db']);
}

export function addRestore(program: Parent, io: Io): void {
  const command = program
    .command('restore')
    .argument('<file>', 'a backup')
    .description('Put a backup in the place of the database. The server must be stopped.')
    .addOption(databaseOption);
  command.action(async (file) => {
    const { json, database } = command.optsWithGlobals();
    const { memories, bytes, kept } = await onDatabase(io, database, (admin, url) =>
      admin.restore(url, file),
    );
    const path = shownDatabase(databaseUrlOf(io, database));
    await printResult(io, json, { file, database: path, memories, bytes, kept }, path);
    if (json) return;
    await note(io, `Restored ${memoriesOf(memories)} to ${path}.`);
    if (kept !== null) await note(io, `What was there before is kept: ${kept}`);
  });
  addExamples(command, ['memory restore memory-backup.db']);
}
