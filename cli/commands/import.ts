import type { ForeignFormat } from '../bulk/foreign/open.ts';
import { connect } from '../client/connect.ts';
import { addExamples } from '../command-metadata.ts';
import { Option, type Parent } from '../commander.ts';
import { usageError } from '../errors.ts';
import {
  errorsOutOption,
  idempotencyKeysOption,
  refuseToOverwrite,
  userOptionFor,
} from '../options.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

export function addImport(program: Parent, term: Terminal): void {
  const command = program
    .command('import')
    .argument('<file>', 'JSON lines; - for stdin')
    .description('Import an export of this service, or of another one.')
    .addOption(fromOption)
    .addOption(userOptionFor('with --from: the user that owns the memories'))
    .addOption(errorsOutOption)
    .addOption(idempotencyKeysOption)
    .addHelpText('after', help);
  command.action(async (file) => {
    const { from, ...options } = command.optsWithGlobals();
    refuseToOverwrite(file, options.errorsOut);
    if (from === undefined && options.user !== undefined) {
      throw usageError('--user is for --from: what export printed names its users.');
    }
    if (from === 'chatgpt' && options.user === undefined) {
      throw usageError('An export of ChatGPT names no user.', 'Say whose it is: --user <id>');
    }
    const { runBatch, runImport } = await import('../bulk/batch.ts');
    const client = await connect(term, options);
    if (from === undefined) {
      const { openInput } = await import('../bulk/input.ts');
      return runImport(term, client, await openInput(term, file, 'memories'), options);
    }
    const { openForeign } = await import('../bulk/foreign/open.ts');
    const { createLosses } = await import('../bulk/foreign/losses.ts');
    const losses = createLosses();
    const input = await openForeign(from, { term, path: file, userId: options.user, losses });
    try {
      if (from !== 'chatgpt') return await runImport(term, client, input, options);
      return await runBatch(term, client, input, { ...options, timeout: 0 });
    } finally {
      const lost = losses.toString();
      if (lost !== '') await note(term, `Not carried over: ${lost}.`);
    }
  });
  addExamples(command, [
    'memory import memories.jsonl',
    'cat memories.jsonl | memory import -',
    'memory import --from chatgpt --user ada conversations.json',
  ]);
}

const formats = ['mem0', 'chatgpt', 'jsonl'] as const satisfies ForeignFormat[];
const fromOption = new Option('--from <format>', 'the service that exported the file').choices(
  formats,
);

const help = `
Ids, times, types and status are kept; an id that is there already is skipped,
so that the same command can be run again. Bad lines are reported and do not
stop the rest.

--from mem0      the JSON that get_all returns. The id becomes the externalId,
                 with source mem0; categories and agent_id become metadata.
--from chatgpt   conversations.json of a data export. Each conversation is
                 ingested as the user saw it, with source chatgpt.
--from jsonl     an object with content, memory or text on each line, and
                 userId, id, metadata, createdAt or expiresAt where it has them.

With --from, --user names the user of all memories. What was imported before is
not doubled, and what could not be carried over is counted on stderr.`;
