import type { Finding } from '../../server/admin.ts';
import type { Parent } from '../commander.ts';
import { databaseOption, onDatabase } from '../database.ts';
import { addExamples } from '../examples.ts';
import { exitCodes } from '../failure.ts';
import { asCalled, type Io } from '../io.ts';
import { type Column, lastingOutput, printJson, printTable } from '../output.ts';

const columnsAt = (io: Io): Column<Finding>[] => [
  { title: 'CHECK', value: ({ name }) => name },
  { title: 'STATE', value: ({ level }) => level },
  { title: 'FOUND', value: ({ found }) => found },
  {
    title: 'WHAT TO DO',
    value: ({ advice }) => asCalled(io, advice ?? ''),
    hiddenWhen: ({ advice }) => advice === undefined,
  },
];

export function addDoctor(program: Parent, io: Io): void {
  const command = program
    .command('doctor')
    .description('Look the database over and say what to do. Exits with 1 on a failure.')
    .addOption(databaseOption);
  command.action(async () => {
    const { json, database } = command.optsWithGlobals();
    const findings = await onDatabase(io, database, (admin, url) => admin.doctor(url));
    const out = lastingOutput(io);
    if (json) await printJson(out.io, { items: findings });
    else await printTable(out.io, columnsAt(io), findings);
    const failed = findings.some(({ level }) => level === 'failure');
    out.end(failed ? exitCodes.failed : exitCodes.done);
  });
  addExamples(command, ['memory doctor']);
}
