import type { MemoryClient } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { ExitWith, exitCodes, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { printJson } from '../terminal/output.ts';
import { confirm } from '../terminal/prompt.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { escapeControls, memoriesOf, quoted } from '../terminal/text.ts';

export function addDelete(program: Parent, term: Terminal): void {
  const command = program
    .command('delete')
    .argument('[id]', 'the id of the memory', shared.parseId)
    .usage('<id> | --user <id> [options]')
    .description('Delete a memory permanently, or all memories of a user.')
    .addOption(shared.userOptionFor('delete all memories of this user'))
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal')
    .addOption(shared.ifVersionOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    if (id === undefined) return deleteAll(term, options);
    if (options.user !== undefined) {
      throw usageError('Pass either an id, or --user to delete all memories of a user.');
    }
    const client = await connect(term, options);
    await client.delete(id, shared.writeOptions(term, options));
    if (options.json) await printJson(term, { memoryId: id, deleted: true });
    else await note(term, `Deleted ${id}.`);
  });
  addExamples(command, [
    'memory delete mem_0199c2a4f1e87c3d9b5e6a7f80912b3c',
    'memory delete --user u-1 --yes',
  ]);
}

type Options = Parameters<typeof connect>[1] & {
  user?: string | undefined;
  yes?: true | undefined;
  idempotencyKey?: string | undefined;
  ifVersion?: number | undefined;
};

async function deleteAll(term: Terminal, options: Options): Promise<void> {
  if (options.user === undefined) {
    throw usageError('Missing <id>, or --user <id> to delete all memories of a user.');
  }
  if (options.ifVersion !== undefined) {
    throw usageError('--if-version applies to one memory: pass its id instead of --user.');
  }
  const userId = shared.needUser(options.user);
  const client: MemoryClient = await connect(term, options);
  if (!options.yes) await askFirst(term, userId);
  const answer = await client.deleteAll({ userId }, shared.writeOptions(term, options));
  if (options.json) return printJson(term, answer);
  const { deleted } = answer;
  await note(term, `Deleted ${memoriesOf(deleted)} of ${userId}.`);
}

/** A script cannot answer a prompt, so it must confirm in advance with --yes. */
async function askFirst(term: Terminal, userId: string): Promise<void> {
  if (!term.stdin.isTerminal || !term.stderr.isTerminal) {
    throw usageError(
      'Deleting all memories of a user requires --yes if stdin is not a terminal.',
      `For example: memory delete --user ${quoted(userId)} --yes`,
    );
  }
  if (await confirm(term, `Permanently delete all memories of ${escapeControls(userId)}?`)) return;
  await note(term, 'Nothing was deleted.');
  throw new ExitWith(exitCodes.failed);
}
