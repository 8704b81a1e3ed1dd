import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { databaseOption, withAdmin } from '../database.ts';
import { CliError, exitCodes, usageError } from '../errors.ts';
import { parseId } from '../options.ts';
import { printJson } from '../terminal/output.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

const listHint = 'Ids are listed by: memory keys list';

export function addRevoke(group: Parent, term: Terminal): void {
  const command = group
    .command('revoke')
    .argument('<id>', 'the id of the key, not the key itself', parseId)
    .description('Revoke a key. A running server rejects it within a second.')
    .addOption(databaseOption);
  command.action(async (id) => {
    const { json, database } = command.optsWithGlobals();
    // The key is not repeated: terminal output ends up in logs.
    if (id.startsWith('mk_')) throw usageError('That is a key, not its id (key_…).', listHint);
    const before = await withAdmin(term, database, async (admin) => {
      const key = (await admin.listKeys()).find((key) => key.id === id);
      await admin.revokeKey(id);
      return key;
    });
    if (before === undefined) {
      throw new CliError('not_found', `There is no key ${id}.`, listHint, exitCodes.notFound);
    }
    const { revokedAt } = before;
    if (json) await printJson(term, { id, revoked: true });
    else if (revokedAt === null) await note(term, `Revoked ${id}.`);
    else await note(term, `${id} is already revoked, since ${new Date(revokedAt).toISOString()}.`);
  });
  addExamples(command, ['memory keys revoke key_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}
