import {
  checkedUrl,
  defaultBaseUrl,
  listed,
  resolveApiKey,
  resolveBaseUrl,
} from '../client/connect.ts';
import { CliError, exitCodes, usageError } from '../client/errors.ts';
import {
  defaultProject,
  endsOfKey,
  entriesOf,
  projectOf,
  readProfile,
  removeService,
  serviceName,
  storeOwnKey,
  useProject,
  useService,
} from '../client/profile.ts';
import { addExamples } from '../command-metadata.ts';
import type { GlobalOptions, Parent } from '../commander.ts';
import { definedOnly } from '../options.ts';
import { readSecret } from '../terminal/input.ts';
import { type Column, printJson, printTable } from '../terminal/output.ts';
import { hint, note, type Terminal } from '../terminal/terminal.ts';

/* The services that the profile knows. Each has its address for a name: no other is needed. */

const url = 'the address of the service';

export function addSet(group: Parent, term: Terminal): void {
  const command = group
    .command('set')
    .argument('<base-url>', url)
    .argument('[-]', 'read the key from stdin; else it is that of --api-key or MEMORY_API_KEY')
    .description('Keep the key of a service, for this user of this machine alone.')
    .addHelpText(
      'after',
      "\nBetter by stdin or MEMORY_API_KEY: what is typed stays in the shell's history.",
    );
  command.action(async (service, stdin) => {
    const { json, apiKey: flag, project = defaultProject } = command.optsWithGlobals();
    const baseUrl = serviceName(checkedUrl(service, '<base-url>'));
    const apiKey = await givenKey(term, stdin, flag);
    const { kept, replaced } = await storeOwnKey(term, { service: baseUrl, project, apiKey });
    if (!json) await note(term, kept);
    if (replaced !== undefined) await note(term, replaced);
    if (json) return printJson(term, { baseUrl, project, apiKey: endsOfKey(apiKey) });
    const isOther = projectOf(await readProfile(term), baseUrl) !== project;
    const { value: used } = await resolveBaseUrl(term, {});
    if (isOther || serviceName(used) !== baseUrl) {
      const more = isOther ? ` --project ${project}` : '';
      await hint(term, `To have commands use it: memory profile use ${baseUrl}${more}`);
    }
  });
  addExamples(command, [
    'memory profile set https://memory.example - < key.txt',
    'memory profile set https://memory.example - --project shop < key.txt',
    'MEMORY_API_KEY=mk_0199c2a4f1e87c3d memory profile set https://m.example',
  ]);
}

export function addUse(group: Parent, term: Terminal): void {
  const command = group
    .command('use')
    .argument('<base-url>', url)
    .description('Have commands use this service where neither flag nor environment names one.');
  command.action(async (service) => {
    const { json, project: flag } = command.optsWithGlobals();
    const baseUrl = await addressOf(term, service);
    await useService(term, baseUrl);
    if (flag !== undefined) await useProject(term, baseUrl, flag);
    const project = projectOf(await readProfile(term), baseUrl);
    if (json) return printJson(term, { baseUrl, project });
    const of = project === defaultProject ? '' : `, project ${project},`;
    await note(term, `Commands use ${baseUrl}${of} from now on.`);
    if (term.env.MEMORY_BASE_URL) await note(term, 'But MEMORY_BASE_URL is set and wins over it.');
    if ((await resolveApiKey(term, {}, baseUrl)) === undefined) {
      const more = of === '' ? '' : ` --project ${project}`;
      await hint(
        term,
        `No key is kept for it. To keep one: memory profile set ${baseUrl} -${more}`,
      );
    }
  });
  addExamples(command, ['memory profile use https://memory.example']);
}

export function addRemove(group: Parent, term: Terminal): void {
  const command = group
    .command('remove')
    .argument('<base-url>', url)
    .description('Forget a service and its keys, or that of one --project. They stay valid.');
  command.action(async (service) => {
    const { json, project } = command.optsWithGlobals();
    const baseUrl = await addressOf(term, service);
    const named = project === undefined ? baseUrl : `${baseUrl}, project ${project}`;
    if (!(await removeService(term, baseUrl, project))) throw unknown(named);
    if (json) await printJson(term, { baseUrl, ...definedOnly({ project }), removed: true });
    else await note(term, `Removed ${named}.`);
  });
  addExamples(command, ['memory profile remove https://memory.example']);
}

export function addProfileList(group: Parent, term: Terminal): void {
  const command = group
    .command('list')
    .description('List the services that the profile knows, and which one is used.');
  command.action(async () => {
    const options = command.optsWithGlobals();
    const items = await servicesOf(term, options);
    if (options.json) return printJson(term, { items });
    await printTable(term, columns, items);
    if (items.length === 0)
      await hint(term, 'None yet. To keep one: memory profile set <base-url> -');
  });
  addExamples(command, ['memory profile list']);
}

type Service = { baseUrl: string; project: string; apiKey: string | null; used: boolean };

async function servicesOf(term: Terminal, options: GlobalOptions): Promise<Service[]> {
  const profile = await readProfile(term);
  const used = serviceName((await resolveBaseUrl(term, options)).value);
  const usedProject = options.project ?? projectOf(profile, used);
  const entries = entriesOf(profile).map(({ service, project, apiKey }) => {
    const isUsed = service === used && project === usedProject;
    return { baseUrl: service, project, apiKey: endsOfKey(apiKey), used: isUsed };
  });
  const { baseUrl } = profile;
  const hasKey = baseUrl === undefined || entries.some((one) => one.baseUrl === baseUrl);
  const keyless = hasKey
    ? []
    : [{ baseUrl, project: defaultProject, apiKey: null, used: baseUrl === used }];
  const order = (one: Service) => `${one.baseUrl}#${one.project}`;
  return [...keyless, ...entries].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

const columns: Column<Service>[] = [
  { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
  {
    title: 'PROJECT',
    value: ({ project }) => project,
    hiddenWhen: ({ project }) => project === defaultProject,
  },
  { title: 'KEY', value: ({ apiKey }) => apiKey ?? '', shown: ({ apiKey }) => apiKey ?? 'none' },
  { title: 'USED', value: ({ used }) => (used ? 'used' : '') },
];

/** Of a service that is known, most likely: those are named where the text is no address. */
async function addressOf(term: Terminal, text: string): Promise<string> {
  const known = [...new Set(entriesOf(await readProfile(term)).map((one) => one.service))];
  const hint =
    known.length === 0
      ? `Such as ${defaultBaseUrl}; the profile knows no service yet.`
      : `A service has its address for a name. The profile knows ${listed(known)}`;
  return serviceName(checkedUrl(text, '<base-url>', hint));
}

/** What a service takes for a key, whoever made it. */
const keyPattern = /^[\x21-\x7e]{16,256}$/;

async function givenKey(term: Terminal, stdin: string | undefined, flag: string | undefined) {
  // Not repeated: what is on the screen ends up in logs.
  if (stdin !== undefined && stdin !== '-') {
    throw usageError('A key is not an argument: give - to read it from stdin.');
  }
  if (stdin === '-' && flag !== undefined) {
    throw usageError('Give the key by - or by --api-key, not by both.');
  }
  const text =
    stdin === '-'
      ? await readSecret(term, 'The key, which is not shown: ')
      : (flag ?? term.env.MEMORY_API_KEY ?? '');
  const apiKey = text.trim();
  if (apiKey === '') throw usageError('There is no key: set MEMORY_API_KEY, or give - for stdin.');
  if (keyPattern.test(apiKey)) return apiKey;
  throw usageError('That is not a key: it must be 16 to 256 visible ASCII characters.');
}

function unknown(baseUrl: string): CliError {
  return new CliError({
    code: 'not_found',
    message: `The profile does not know ${baseUrl}.`,
    hint: 'Those it knows: memory profile list',
    exitCode: exitCodes.notFound,
  });
}
