import type { Parent } from '../commander.ts';
import { databaseOption, withAdmin } from '../database.ts';
import { addExamples } from '../examples.ts';
import { CliError, exitCodes } from '../failure.ts';
import { hint, type Io, note } from '../io.ts';
import { expiresOption } from '../options.ts';
import { type Column, printJson, printResult, printTable } from '../output.ts';
import { age } from '../text.ts';

export function addKeys(program: Parent, io: Io): void {
  const group = program
    .command('keys')
    .description('Make and revoke API keys. Works on the database itself, beside the server.');
  addCreate(group, io);
  addList(group, io);
  addRevoke(group, io);
}

function addCreate(group: Parent, io: Io): void {
  const command = group
    .command('create')
    .description('Make an API key. It is printed once and kept nowhere.')
    .option('--name <name>', 'what it is for', 'unnamed')
    .option('--project <project>', 'keys of a project see the same memories', 'default')
    .addOption(expiresOption)
    .addOption(databaseOption);
  command.action(async () => {
    const { json, name, project, expires, database } = command.optsWithGlobals();
    const expiresAt = expires === undefined ? null : io.now() + expires;
    const made = await withAdmin(io, database, (admin) =>
      admin.createKey({ name, project, expiresAt }),
    );
    await printResult(io, json, { ...made, expiresAt: iso(expiresAt) }, made.key);
    if (json) return;
    await note(io, `Key ${made.id} of project ${project}. It is shown only this once.`);
    await note(io, 'To use it: export MEMORY_API_KEY=<key>');
  });
  addExamples(command, ['memory keys create --name my-app --expires 90d']);
}

function addList(group: Parent, io: Io): void {
  const command = group
    .command('list')
    .description('List the keys, never the keys themselves.')
    .addOption(databaseOption);
  command.action(async () => {
    const { json, database } = command.optsWithGlobals();
    const keys = await withAdmin(io, database, (admin) => admin.listKeys());
    const rows = keys.map((key) => ({
      ...key,
      createdAt: new Date(key.createdAt).toISOString(),
      expiresAt: iso(key.expiresAt),
      lastUsedAt: iso(key.lastUsedAt),
      revokedAt: iso(key.revokedAt),
    }));
    if (json) return printJson(io, { items: rows });
    await printTable(io, columnsAt(io), rows);
    if (rows.length === 0) await hint(io, 'No keys yet. Make one: memory keys create');
  });
  addExamples(command, ['memory keys list']);
}

function addRevoke(group: Parent, io: Io): void {
  const command = group
    .command('revoke <id>')
    .description('Revoke a key. A running server refuses it within a second.')
    .addOption(databaseOption);
  command.action(async (id) => {
    const { json, database } = command.optsWithGlobals();
    const revoked = await withAdmin(io, database, (admin) => admin.revokeKey(id));
    if (!revoked) {
      throw new CliError({
        code: 'not_found',
        message: `There is no key ${id} that is in force.`,
        hint: 'Ids are listed by: memory keys list',
        exitCode: exitCodes.notFound,
      });
    }
    if (json) await printJson(io, { id, revoked: true });
    else await note(io, `Revoked ${id}.`);
  });
  addExamples(command, ['memory keys revoke key_0199c2a4f1e87c3d9b5e6a7f80912b3c']);
}

type KeyRow = {
  id: string;
  name: string;
  project: string;
  prefix: string;
  lastFour: string;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

function columnsAt(io: Io): Column<KeyRow>[] {
  const now = io.now();
  const ago = (time: string | null) => (time === null ? '' : age(time, now));
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'PROJECT',
      value: ({ project }) => project,
      hiddenWhen: ({ project }) => project === 'default',
    },
    { title: 'KEY', value: ({ prefix, lastFour }) => `${prefix}…${lastFour}` },
    { title: 'AGE', value: ({ createdAt }) => createdAt, shown: (key) => ago(key.createdAt) },
    { title: 'USED', value: (key) => key.lastUsedAt ?? '', shown: (key) => ago(key.lastUsedAt) },
    {
      title: 'EXPIRES',
      value: ({ expiresAt }) => expiresAt ?? '',
      shown: ({ expiresAt }) => expiresAt?.slice(0, 10) ?? '',
      hiddenWhen: ({ expiresAt }) => expiresAt === null,
    },
    {
      title: 'REVOKED',
      value: ({ revokedAt }) => revokedAt ?? '',
      shown: ({ revokedAt }) => ago(revokedAt),
      hiddenWhen: ({ revokedAt }) => revokedAt === null,
    },
    { title: 'NAME', value: ({ name }) => name, cut: true },
  ];
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
