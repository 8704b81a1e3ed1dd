import { connect } from '../client/connect.ts';
import { patientRequests } from '../client/patience.ts';
import { addHelp, Option, type Parent } from '../commander.ts';
import { CliError, usageError } from '../errors.ts';
import * as shared from '../options.ts';
import { note, type Terminal } from '../terminal/terminal.ts';
import { memoriesOf, quoted, toJson } from '../terminal/text.ts';

/** Lines are written in batches, because a system call per line would dominate the run time. */
const writtenAtOnce = 64 * 1024; // mutate-ignore constant: affects only cost

export function addExport(program: Parent, term: Terminal): void {
  const command = program
    .command('export')
    .description('Print every memory in the project as JSON Lines.')
    .addOption(shared.userOptionFor('only memories of this user'));
  command.action(async (options) => {
    const client = await connect(term);
    const query = shared.definedOnly({ userId: options.user });
    const request = await patientRequests(term);
    let [count, lines] = [0, ''];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const part = { ...query, ...shared.definedOnly({ cursor }) };
      const page = await request(() => client.export(part, { signal: term.interrupted }));
      for (const memory of page.items) {
        lines += `${toJson(memory)}\n`;
        count += 1;
        if (lines.length <= writtenAtOnce) continue;
        await term.stdout.write(lines);
        lines = '';
      }
      // Otherwise, a service that repeats its cursor would fill the disk.
      if (page.nextCursor === cursor)
        throw new CliError('failed', 'the service returned a cursor twice');
      cursor = page.nextCursor;
    }
    await term.stdout.write(lines);
    if (!term.options.json) await note(term, `Exported ${memoriesOf(count)}.`);
  });
  const help = '\nTo import the lines into this or another service: memory import <file>';
  addHelp(command, help, [
    'memory export > memories.jsonl',
    'memory export --user u-1 | gzip > u-1.jsonl.gz',
  ]);
}

export function addImport(program: Parent, term: Terminal): void {
  const command = program
    .command('import')
    .argument('<file>', 'JSON Lines; - for stdin', shared.parseFile)
    .description('Import memories that were exported from this service or another one.')
    .addOption(fromOption)
    .addOption(shared.userOptionFor('with --from: the user who owns the memories'))
    .addOption(shared.errorsOutOption)
    .addOption(shared.idempotencyKeyOption);
  command.action(async (file) => {
    const { from, ...options } = command.optsWithGlobals();
    shared.rejectOverwrite(term, file, options.errorsOut);
    if (from === undefined && options.user !== undefined) {
      throw usageError('--user requires --from: lines from an export already contain user ids.');
    }
    if (from !== undefined && from !== 'mem0' && options.user === undefined) {
      throw usageError(
        `--from ${from} requires --user <id>: the file contains no user ids.`,
        `For example: memory import --from ${from} --user ada ${quoted(file)}`,
      );
    }
    const { runImport } = await import('../bulk/ingest.ts');
    const client = await connect(term);
    if (from === undefined) {
      const { openRecords } = await import('../bulk/input.ts');
      return runImport(term, client, await openRecords(term, file), options);
    }
    const { readForeign } = await import('../bulk/foreign/read.ts');
    await runImport(term, client, await readForeign(term, from, file, options.user), options);
  });
  addHelp(command, importHelp, [
    'memory import memories.jsonl',
    'cat memories.jsonl | memory import -',
    'memory import --from mem0 mem0.json',
    'memory import --from chatgpt --user ada conversations.json',
  ]);
}

const fromOption = new Option(
  '--from <format>',
  'the format of an export from another service',
).choices(['mem0', 'zep', 'letta', 'supermemory', 'chatgpt'] as const);

const importHelp = `
Ids, times, types and statuses are kept. A memory whose id already exists is
skipped, so the same command can be run again. Invalid lines are reported and
do not stop the import.

--from mem0         the JSON that get_all returns; categories and agent_id
                    become metadata.
--from zep          the episodes of a user, with their roles.
--from letta        the passages of an agent's archival memory, with their tags.
--from supermemory  a list of documents that was requested with includeContent.
--from chatgpt      conversations.json from a data export. Each message that the
                    user saw becomes a memory with its role and time.

The format becomes the source, and the id the externalId. --user sets the user
of all memories; only a file from mem0 can contain users. A second import
creates no duplicates. Data that cannot be imported is counted on stderr.`;
