import type { MemoryClient } from '../../sdk/index.ts';
import type { Parent } from '../commander.ts';
import { connect } from '../connect.ts';
import { addExamples } from '../examples.ts';
import { ExitWith, exitCodes, usageError } from '../failure.ts';
import { confirm } from '../input.ts';
import { type Io, note } from '../io.ts';
import {
  idempotencyKeyOption,
  needUser,
  parseId,
  userOptionFor,
  writeOptions,
} from '../options.ts';
import { printJson } from '../output.ts';
import { memoriesOf, quoted, visible } from '../text.ts';

export function addDelete(program: Parent, io: Io): void {
  const command = program
    .command('delete')
    .argument('[id]', 'of the memory', parseId)
    .usage('<id> | --user <id> [options]')
    .description('Delete a memory for good, or everything of a user.')
    .addOption(userOptionFor('everything of this user'))
    .option('-y, --yes', 'do not ask; needed where there is nobody to ask')
    .addOption(idempotencyKeyOption);
  command.action(async (id) => {
    const options = command.optsWithGlobals();
    if (id === undefined) return deleteAll(io, options);
    if (options.user !== undefined) {
      throw usageError('Give an id, or --user for everything of a user, not both.');
    }
    const client = await connect(io, options);
    await client.delete(id, writeOptions(io, options));
    if (options.json) await printJson(io, { memoryId: id, deleted: true });
    else await note(io, `Deleted ${id}.`);
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
};

async function deleteAll(io: Io, options: Options): Promise<void> {
  if (options.user === undefined) {
    throw usageError('Missing <id>, or --user <id> for everything of a user.');
  }
  const userId = needUser(options.user);
  const client: MemoryClient = await connect(io, options);
  if (!options.yes) await askFirst(io, userId);
  const answer = await client.deleteAll({ userId }, writeOptions(io, options));
  if (options.json) return printJson(io, answer);
  const { deleted } = answer;
  await note(io, `Deleted ${memoriesOf(deleted)} of ${userId}.`);
}

/** In a script nobody can be asked, so it says beforehand that it means it. */
async function askFirst(io: Io, userId: string): Promise<void> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw usageError(
      'Deleting everything of a user needs --yes where nobody can be asked.',
      `Such as: memory delete --user ${quoted(userId)} --yes`,
    );
  }
  if (await confirm(io, `Delete every memory of ${visible(userId)} for good?`)) return;
  await note(io, 'Nothing was deleted.');
  throw new ExitWith(exitCodes.failed);
}
