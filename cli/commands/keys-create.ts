import { defaultBaseUrl, resolveBaseUrl } from '../client/connect.ts';
import {
  defaultProject,
  type Entry,
  readProject,
  serviceName,
  storeOwnKey,
  useProject,
} from '../client/profile.ts';
import { addExamples } from '../command-metadata.ts';
import type { GlobalOptions, Parent } from '../commander.ts';
import { databaseOption, databaseUrlOf, shownDatabase, withAdmin } from '../database.ts';
import { usageError } from '../errors.ts';
import { expiresOption, needUser, userOptionFor } from '../options.ts';
import { printResult, resilientOutput } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';
import { quoted } from '../terminal/text.ts';

export function addCreate(group: Parent, term: Terminal): void {
  const command = group
    .command('create')
    .description('Make an API key. It is printed once; only --save stores it.')
    .option('--name <name>', 'what it is for', 'unnamed')
    .option('--read-only', 'it cannot write')
    .addOption(userOptionFor('bound to this user: it sees and writes nothing of others'))
    .addOption(expiresOption)
    .option('--save', 'store it in the profile: this command line uses it from now on')
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nKeys of one --project see the same memories, those of another see none of them.' +
        '\nTo replace a key: memory keys create --save; memory keys revoke <old>',
    );
  command.action(async () => {
    const options = command.optsWithGlobals();
    const service = options.save ? await serviceOf(term, options) : null;
    const { key, out, revoke } = await createKey(term, options);
    const { project = defaultProject, json } = options;
    if (service !== null) await save(term, { service, project, apiKey: key });
    else if (out.hasFailed()) await hint(term, revoke);
    else if (!json) await hint(term, howToUse);
    out.end();
  });
  addExamples(command, [
    'memory keys create --name my-app --expires 90d',
    'memory keys create --read-only --user ada',
    'memory keys create --save',
  ]);
}

type Options = GlobalOptions & {
  name: string;
  readOnly?: true | undefined;
  user?: string | undefined;
  expires?: number | undefined;
  database?: string | undefined;
};

const howToUse =
  'It is shown only this once. To use it: export MEMORY_API_KEY=<key>; to store it: --save';

/** Makes and prints the key; what comes after depends on whether that could be printed. */
async function createKey(term: Terminal, options: Options) {
  const { json, name, project = defaultProject, expires, database } = options;
  const expiresAt = expires === undefined ? null : term.now() + expires;
  const userId = options.user === undefined ? null : needUser(options.user);
  const readOnly = options.readOnly ?? false;
  const create = { name, project, userId, readOnly, expiresAt };
  const { made, projects } = await withAdmin(
    term,
    database,
    async (admin, isNew) => {
      if (isNew) {
        await note(term, `Made a new database at ${shownDatabase(databaseUrlOf(term, database))}.`);
      }
      // A server makes the project `default`, with a key or without.
      const known = (await admin.listKeys()).map((one) => one.project);
      return { projects: [defaultProject, ...known], made: await admin.createKey(create) };
    },
    { make: true },
  );
  const expiry = expiresAt === null ? null : new Date(expiresAt).toISOString();
  const out = resilientOutput(term);
  await printResult(out.term, json, { ...made, userId, readOnly, expiresAt: expiry }, made.key);
  const of = `${projects.includes(project) ? 'project' : 'a new project'} ${project}`;
  const until = expiry === null ? 'It does not expire.' : `It expires on ${expiry}.`;
  if (!json || out.hasFailed())
    await note(term, `Key ${made.id} of ${of}${kindOf(create)}. ${until}`);
  const flag = database === undefined ? '' : ` --database ${quoted(database)}`;
  const revoke = `It could not be printed. As it is shown only once: memory keys revoke ${made.id}${flag}`;
  return { key: made.key, out, revoke };
}

/** What the key may not do, in words. */
function kindOf({ userId, readOnly }: { userId: string | null; readOnly: boolean }): string {
  return (readOnly ? ', read-only' : '') + (userId === null ? '' : `, bound to ${userId}`);
}

/** The profile may be about a service elsewhere, whose key must not be lost to one made here. */
async function serviceOf(term: Terminal, options: GlobalOptions): Promise<string> {
  const { value, from } = await resolveBaseUrl(term, options);
  if (from !== 'profile') return serviceName(value);
  throw usageError(
    `Which service is the key for? The profile uses ${value}.`,
    `Name it: memory keys create --save --base-url ${value}, or ${defaultBaseUrl}`,
  );
}

async function save(term: Terminal, entry: Entry): Promise<void> {
  const { service, project } = entry;
  const before = await readProject(term, service);
  const stored = await storeOwnKey(term, entry);
  await useProject(term, service, project);
  for (const line of stored) await note(term, line);
  if (before !== project) {
    const back = `memory profile use ${service} --project ${before}`;
    await hint(term, `Commands use project ${project} there from now on; to go back: ${back}`);
  }
  if (term.env.MEMORY_API_KEY) await note(term, 'But MEMORY_API_KEY is set and wins over it.');
}
