import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { databaseOption, withAdmin } from '../database.ts';
import { CliError, exitCodes, usageError } from '../errors.ts';
import { parseId } from '../options.ts';
import { printJson } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

const listHint = 'To list ids: memory keys list';

export function addRevoke(group: Parent, term: Terminal): void {
  const command = group
    .command('revoke')
    .argument('<id>', 'the id of the key, not the key itself', parseId)
    .description('Revoke a key. A running server rejects it within a second.')
    .addOption(databaseOption);
  command.action(async (id) => {
    const { json, database } = command.optsWithGlobals();
    // The error does not repeat the key, because terminal output ends up in logs.
    if (id.startsWith('mk_'))
      throw usageError('The argument is a key, not the id of a key (key_…).', listHint);
    const before = await withAdmin(term, database, async (admin) => {
      const key = (await admin.listKeys()).find((key) => key.id === id);
      await admin.revokeKey(id);
      return key;
    });
    if (before === undefined) {
      throw new CliError('not_found', `Key not found: ${id}.`, listHint, exitCodes.notFound);
    }
    const { revokedAt } = before;
    if (json) await printJson(term, { id, revoked: true });
    else if (revokedAt === null) await note(term, `Revoked ${id}.`);
    else await note(term, `${id} was already revoked at ${new Date(revokedAt).toISOString()}.`);
  });
  addExamples(command, ['memory keys revoke key_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
