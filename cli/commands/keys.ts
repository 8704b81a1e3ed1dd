import { addExamples } from '../command-metadata.ts';
import type { Parent } from '../commander.ts';
import { databaseOption, withAdmin } from '../database.ts';
import { type Column, printJson, printTable } from '../terminal/output.ts';
import { hint, type Terminal } from '../terminal/terminal.ts';
import { age, cut } from '../terminal/text.ts';
import { addCreate } from './keys-create.ts';
import { addRevoke } from './keys-revoke.ts';

export function addKeys(program: Parent, term: Terminal): void {
  const group = program
    .command('keys')
    .description(
      'Make and revoke API keys. Works on the database itself; the server may be running.',
    )
    .helpCommand('help [command]', 'Show the help of a command.');
  addCreate(group, term);
  addList(group, term);
  addRevoke(group, term);
}

function addList(group: Parent, term: Terminal): void {
  const command = group
    .command('list')
    .description('List the keys by id; the keys themselves are never shown.')
    .addOption(databaseOption);
  command.action(async () => {
    const { json, database } = command.optsWithGlobals();
    const keys = await withAdmin(term, database, (admin) => admin.listKeys());
    const rows = keys.map((key) => ({
      ...key,
      createdAt: new Date(key.createdAt).toISOString(),
      expiresAt: iso(key.expiresAt),
      lastUsedAt: iso(key.lastUsedAt),
      revokedAt: iso(key.revokedAt),
    }));
    if (json) return printJson(term, { items: rows });
    await printTable(term, columnsAt(term.now()), rows);
    if (rows.length === 0) await hint(term, 'No keys yet. Make one: memory keys create');
  });
  addExamples(command, ['memory keys list']);
}

type KeyRow = {
  id: string;
  name: string;
  project: string;
  prefix: string;
  lastFour: string;
  userId: string | null;
  readOnly: boolean;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

const nameWidth = 16;

function columnsAt(now: number): Column<KeyRow>[] {
  const ago = (time: string | null) => (time === null ? '' : age(time, now));
  return [
    { title: 'ID', value: ({ id }) => id },
    {
      title: 'PROJECT',
      value: ({ project }) => project,
      shown: ({ project }) => cut(project, nameWidth),
      hiddenWhen: ({ project }) => project === 'default',
    },
    { title: 'KEY', value: ({ prefix, lastFour }) => `${prefix}…${lastFour}`, dropped: 3 },
    { title: 'AGE', value: (key) => key.createdAt, shown: (key) => ago(key.createdAt), dropped: 1 },
    {
      title: 'USED',
      value: ({ lastUsedAt }) => lastUsedAt ?? '',
      shown: ({ lastUsedAt }) => ago(lastUsedAt),
      dropped: 2,
    },
    {
      title: 'EXPIRES',
      value: ({ expiresAt }) => expiresAt ?? '',
      shown: ({ expiresAt }) => expiry(expiresAt, now),
      hiddenWhen: ({ expiresAt }) => expiresAt === null,
      dropped: 4,
    },
    {
      title: 'REVOKED',
      value: ({ revokedAt }) => revokedAt ?? '',
      shown: ({ revokedAt }) => ago(revokedAt),
      hiddenWhen: ({ revokedAt }) => revokedAt === null,
    },
    {
      title: 'USER',
      value: ({ userId }) => userId ?? '',
      shown: ({ userId }) => cut(userId ?? '', nameWidth),
      hiddenWhen: ({ userId }) => userId === null,
    },
    {
      title: 'WRITES',
      value: ({ readOnly }) => (readOnly ? 'no' : 'yes'),
      hiddenWhen: ({ readOnly }) => !readOnly,
      dropped: 5,
    },
    { title: 'NAME', value: ({ name }) => name, cut: true },
  ];
}

function expiry(at: string | null, now: number): string {
  if (at === null) return '';
  return Date.parse(at) <= now ? 'expired' : at.slice(0, 10);
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
