import type { Comparison } from '../../server/admin.ts';
import { addHelp, type Parent } from '../commander.ts';
import { databaseFailure, databaseUrlOf, shownDatabase } from '../database.ts';
import { CliError, exitCodes } from '../errors.ts';
import { type Column, printJson, printTable, resilientOutput } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { note, type Terminal } from '../terminal/terminal.ts';

export function addMigrate(program: Parent, term: Terminal): void {
  const command = program
    .command('migrate')
    .description('Copy a database from SQLite to PostgreSQL or back. Servers must be stopped.')
    .requiredOption('--from <path or url>', 'the database to copy')
    .requiredOption('--to <path or url>', 'an empty database, or an unfinished copy to continue')
    .option('--verify', 'only compare the two databases');
  command.action(async ({ from, to, verify = false }) => {
    const [source, target] = [databaseUrlOf(term, from), databaseUrlOf(term, to)];
    const { copiedRows, isEqual, items } = await migrate(term, source, target, !verify);
    const shown = { from: shownDatabase(term, source), to: shownDatabase(term, target) };
    const out = resilientOutput(term);
    if (term.options.json) {
      await printJson(out.term, { ...shown, copiedRows, isEqual, items });
      return out.end(isEqual ? exitCodes.done : exitCodes.failed);
    }
    await printTable(out.term, columns, items);
    if (!isEqual) {
      const next =
        'A server may have written to one of them. To copy again, empty the target first.';
      throw new CliError('databases_differ', 'The databases differ.', next);
    }
    const copied = verify ? '' : `Copied ${copiedRows.toLocaleString('en')} rows. `;
    await note(term, `${copied}${shown.to} is equal to ${shown.from}.`);
    out.end();
  });
  addHelp(command, help, [
    'memory migrate --from data/memory.db --to postgres://db.example/memory',
    'memory migrate --from postgres://db.example/memory --to data/memory.db',
    'memory migrate --from backup.db --to postgres://db.example/memory --verify',
  ]);
}

const help = `
Copies projects, API keys, memories, pending tasks and the stored responses of
idempotency keys, with their ids, times and versions, and then compares the two
databases. To continue an interrupted copy, run the same command again. Servers
do not start on an unfinished copy.

The command fails if a server is running on either database at the start, or on
the source at the end. If the source changes during the copy, the comparison
fails: empty the target and copy again. Exits with status 1 if the databases
differ.`;

async function migrate(term: Terminal, source: string, target: string, copies: boolean) {
  const admin = await import('../../server/admin.ts');
  let hint: string | undefined;
  const reporter = (unit: string) => {
    let report: ReturnType<typeof startProgress> | undefined;
    return async (rows: number, total: number) => {
      term.interrupted.throwIfAborted();
      if (copies) hint = 'Run the same command again to continue.';
      report ??= startProgress(term, total, unit);
      await report(rows, rows);
    };
  };
  const [onCopied, onCompared] = [reporter('rows copied'), reporter('rows compared')];
  try {
    return await admin.migrate(source, target, { copies, onCopied, onCompared });
  } catch (error) {
    term.interrupted.throwIfAborted();
    throw databaseFailure(error, 'migration_failed', '--from or --to', hint);
  }
}

const columns: Column<Comparison>[] = [
  { title: 'TABLE', value: ({ table }) => table },
  { title: 'PROJECT', value: ({ project }) => project ?? '' },
  { title: 'SOURCE', value: ({ source }) => String(source.rows) },
  { title: 'TARGET', value: ({ target }) => String(target.rows) },
  { title: 'CONTENT', value: ({ isEqual }) => (isEqual ? 'equal' : 'different') },
];
