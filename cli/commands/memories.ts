import type { Memory } from '../../sdk/index.ts';
import { connect } from '../client/connect.ts';
import { rejectDeletedReplay } from '../client/service-errors.ts';
import { addHelp, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { confirm, textArgument } from '../terminal/input.ts';
import { printFields, printJson, printResult } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { escapeControls, memoriesOf, quoted } from '../terminal/text.ts';

export function addSave(program: Parent, term: Terminal): void {
  const command = program
    .command('save')
    .argument('<text>', 'the text to save, or - for stdin')
    .usage('--user <id> [options] <text>')
    .description('Save text as a memory and print its id.')
    .addOption(shared.userOption)
    .addOption(shared.metadataOption)
    .addOption(shared.sourceOption)
    .addOption(shared.externalIdOption)
    .addOption(shared.occurredOption)
    .addOption(shared.expiryOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (text, options) => {
    const client = await connect(term);
    const content = await textArgument(term, text);
    if (content === '') throw usageError('The text must not be empty.');
    const { user: userId, metadata, source, externalId } = options;
    const fields = { userId, metadata, source, externalId, ...shared.timesOf(options) };
    const request = { content, ...shared.definedOnly(fields) };
    const saved = await client.save(request, shared.writeOptions(term, options));
    rejectDeletedReplay(saved, saved.id);
    const saying = `Saved. To show the memory: memory get ${saved.id}`;
    await printResult(term, saved, saved.id, saying);
  });
  addHelp(command, '', [
    'memory save --user u-1 "Prefers dark mode"',
    'memory save --user u-1 -m topic=home -m confidence:=0.9 "Lives in Lisbon"',
    'memory save --user u-1 --source agent --external-id diet "Is vegetarian"',
    'memory save --user u-1 --occurred 2026-05-08 --expires 30d "At Hotel Bern"',
    'echo "Speaks French" | memory save --user u-1 -',
  ]);
}

export function addGet(program: Parent, term: Terminal): void {
  const command = program
    .command('get')
    .addArgument(shared.memoryId)
    .description('Show one memory in full.');
  command.action(async (id) => {
    const client = await connect(term);
    const memory = await client.get(id, { signal: term.interrupted });
    await (term.options.json ? printJson(term, memory) : printMemory(term, memory));
  });
  addHelp(command, '', ['memory get mem_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}

async function printMemory(term: Terminal, memory: Memory): Promise<void> {
  const { content, metadata, ...rest } = memory;
  const entries = Object.keys(metadata).length;
  const fields = { ...rest, metadata: entries === 0 ? null : JSON.stringify(metadata) };
  if (!term.stdout.isTerminal) return printFields(term, { ...fields, content });
  await printFields(term, fields);
  await term.stdout.write(`\n${escapeControls(content)}\n`);
}

export function addUpdate(program: Parent, term: Terminal): void {
  const command = program
    .command('update')
    .addArgument(shared.memoryId)
    .argument('[text]', 'the new text, or - for stdin')
    .description('Replace the text, metadata or times of a memory; the rest is unchanged.')
    .addOption(shared.newMetadataOption)
    .addOption(shared.occurredOption)
    .addOption(shared.expiryOption)
    .addOption(shared.ifVersionOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (id, text, options) => {
    const { metadata } = options;
    const fields = shared.definedOnly({ metadata, ...shared.timesOf(options) });
    if (text === undefined && Object.keys(fields).length === 0) {
      throw usageError('Nothing to update: pass <text>, --metadata, --occurred or --expires.');
    }
    const client = await connect(term);
    const content = text === undefined ? undefined : await textArgument(term, text);
    if (content === '') {
      throw usageError('The text must not be empty.', `To delete the memory: memory delete ${id}`);
    }
    const request = { ...shared.definedOnly({ content }), ...fields };
    const updated = await client.update(id, request, shared.writeOptions(term, options));
    rejectDeletedReplay(updated, id);
    await printResult(term, updated, updated.id, 'Updated.');
  });
  addHelp(command, '', [
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Prefers light mode"',
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c "Moved" --if-version 1',
    'memory update mem_0199c2a4f1e87c3d9b5e6a7f80912b3c --expires none',
  ]);
}

export function addDelete(program: Parent, term: Terminal): void {
  const command = program
    .command('delete')
    .argument('[id]', 'the id of the memory', shared.parseId)
    .usage('<id> | --user <id> [options]')
    .description('Permanently delete a memory, or all memories of a user.')
    .addOption(shared.userOptionFor('delete all memories of this user').conflicts('ifVersion'))
    .option('-y, --yes', 'skip the confirmation; required if stdin is not a terminal')
    .addOption(shared.ifVersionOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (id, options) => {
    const { user } = options;
    const call = shared.writeOptions(term, options);
    if (id !== undefined && user === undefined) {
      const client = await connect(term);
      await client.delete(id, call);
      return printResult(term, { memoryId: id, deleted: true }, null, `Deleted ${id}.`);
    }
    if (id !== undefined || user === undefined) {
      throw usageError('Pass either an id, or --user to delete all memories of a user.');
    }
    const client = await connect(term);
    if (!options.yes) {
      const unasked = usageError(
        'Deleting all memories of a user requires --yes if stdin is not a terminal.',
        `For example: memory delete --user ${quoted(user)} --yes`,
      );
      const question = `Permanently delete all memories of ${user}?`;
      await confirm(term, question, unasked, 'Nothing was deleted.');
    }
    const answer = await client.deleteAll({ userId: user }, call);
    const done = `Deleted ${memoriesOf(answer.deleted)} of ${user}.`;
    await printResult(term, answer, null, done);
  });
  addHelp(command, '', [
    'memory delete mem_0199c2a4f1e87c3d9b5e6a7f80912b3c',
    'memory delete --user u-1 --yes',
  ]);
}
