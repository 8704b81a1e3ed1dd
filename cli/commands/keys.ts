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
    .description('Create and revoke API keys in the database; the server may be running.')
    .helpCommand('help [command]', 'Show help for a command.');
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
    if (rows.length === 0) await hint(term, 'No keys yet. To create one: memory keys create');
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
  const ago = (time: string) => (time === '' ? '' : age(time, now));
  const short = (name: string) => cut(name, nameWidth);
  const expiry = (time: string) =>
    time && Date.parse(time) <= now ? 'expired' : time.slice(0, 10);
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'PROJECT', value: ({ project }) => project, shown: short, usual: 'default' },
    { title: 'KEY', value: ({ prefix, lastFour }) => `${prefix}…${lastFour}`, dropped: 3 },
    { title: 'AGE', value: ({ createdAt }) => createdAt, shown: ago, dropped: 1 },
    { title: 'USED', value: ({ lastUsedAt }) => lastUsedAt ?? '', shown: ago, dropped: 2 },
    { title: 'EXPIRES', value: (key) => key.expiresAt ?? '', shown: expiry, usual: '', dropped: 4 },
    { title: 'REVOKED', value: ({ revokedAt }) => revokedAt ?? '', shown: ago, usual: '' },
    { title: 'USER', value: ({ userId }) => userId ?? '', shown: short, usual: '' },
    { title: 'WRITES', value: (key) => (key.readOnly ? 'no' : 'yes'), usual: 'yes', dropped: 5 },
    { title: 'NAME', value: ({ name }) => name, cut: true },
  ];
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
