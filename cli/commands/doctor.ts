import type { Finding } from '../../server/admin.ts';
import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { databaseOption, onDatabase } from '../database.ts';
import { exitCodes } from '../errors.ts';
import { type Column, printJson, printTable, resilientOutput } from '../terminal/output.ts';
import { asCalled, type Terminal } from '../terminal/terminal.ts';

const columnsAt = (term: Terminal): Column<Finding>[] => [
  { title: 'CHECK', value: ({ name }) => name },
  { title: 'STATE', value: ({ level }) => level },
  { title: 'FOUND', value: ({ found }) => found },
  { title: 'ADVICE', value: ({ advice = '' }) => asCalled(term, advice), usual: '' },
];

export function addDoctor(program: Parent, term: Terminal): void {
  const command = program
    .command('doctor')
    .description('Check the database and suggest fixes. Exits with 1 if a check fails.')
    .addOption(databaseOption);
  command.action(async () => {
    const { json, database } = command.optsWithGlobals();
    const findings = await onDatabase(term, database, (admin, url) => admin.doctor(url));
    const out = resilientOutput(term);
    if (json) await printJson(out.term, { items: findings });
    else await printTable(out.term, columnsAt(term), findings);
    const failed = findings.some(({ level }) => level === 'failure');
    out.end(failed ? exitCodes.failed : exitCodes.done);
  });
  addExamples(command, ['memory doctor']);
}
