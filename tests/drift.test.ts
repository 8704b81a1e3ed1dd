import { describe, expect, test } from 'bun:test';
import { Glob } from 'bun';
import type { AnyCommand } from '../cli/commander.ts';
import { createProgram } from '../cli/program.ts';
import { commandNames } from '../cli/terminal/terminal.ts';
import { Memory, SaveRequest, UpdateRequest } from '../sdk/contract/memory.ts';
import { type Operation, operations } from '../sdk/contract/operations.ts';
import { MemoryClient } from '../sdk/index.ts';
import { routeLabels } from '../server/metrics/table.ts';
import { testTerminal } from './cli/command.ts';
import { app, document, documented, jsonOf, resolve, routeOf } from './support/document.ts';

/*
 * Each operation in the contract must be a route, an OpenAPI operation, an SDK method and a
 * command, and at least one test must call it over HTTP. No layer may have any other operation.
 * Each field of a memory must be in the Python SDK, the command line and the documentation.
 */

const table = Object.entries<Operation>(operations);
const names = table.map(([name]) => name).sort();

/** Routes that are documented, but are not operations. */
const onlyDocumented = ['GET /', 'GET /health/live', 'GET /openapi.json'];
/** The routes, methods, commands and command groups that are not operations. */
const onlyRoutes = ['ALL /mcp', 'ALL /mcp/users/:userId', 'ALL /v1', 'ALL /v1/*'].concat([
  'GET /favicon.ico',
  'GET /assets/home.css',
  'GET /assets/home.js',
  'GET /assets/console.css',
  'GET /assets/console.js',
  'GET /assets/docs.js',
  'GET /console',
  'GET /docs',
  'GET /metrics',
]);
const onlyMethods = ['waitUntilComplete'];
const onlyCommands = [...['backup', 'completion', 'doctor', 'migrate', 'restore', 'serve', 'top']];
const onlyGroups = ['keys', 'mcp', 'profile'];
/** Operations whose command has another name. */
const commandOf: Record<string, string> = {
  deleteAll: 'delete',
  key: 'whoami',
  statusMany: 'wait',
};

/** Fields whose option has another name. */
const optionOf: Record<string, string> = {
  userId: 'user',
  occurredAt: 'occurred',
  expiresAt: 'expires',
};

test("the app's routes match the operations", () => {
  const found = app.routes.map(({ method, path }) => `${method} ${path}`).sort();
  const expected = table.map(([, { method, path }]) => `${method} ${path}`);
  expect(found).toEqual([...expected, ...onlyDocumented, ...onlyRoutes].sort());
});

test('every route has its own label in the metrics, except the files of the pages', () => {
  const paths = new Set(app.routes.map(({ path }) => path));
  const unnamed = [...paths.difference(new Set(routeLabels))];
  expect(unnamed.filter((path) => !path.startsWith('/assets/'))).toEqual(['/favicon.ico']);
  expect(routeLabels.filter((path) => !paths.has(path))).toEqual([]);
});

test('every operation is in the OpenAPI document', () => {
  const expected = [...table.map(([, operation]) => routeOf(operation)), ...onlyDocumented];
  expect(documented.map(routeOf).sort()).toEqual(expected.sort());
});

test.each([
  ['saveMemory', 201, ['SavedMemory', 'DeletedMemory']],
  ['getMemory', 200, ['Memory']],
  ['getHealth', 200, ['Health']],
  ['getHealth', 503, ['Health']],
])('%s responds with status %d and one of the schemas %p', (name, status, schemas) => {
  const responses = documented.find(({ operationId }) => operationId === name)?.responses ?? {};
  const refs = schemas.map((schema) => ({ $ref: `#/components/schemas/${schema}` }));
  const schema = refs.length === 1 ? refs[0] : { anyOf: refs };
  expect(jsonOf(responses[status])).toMatchObject({ schema });
});

test('only parameters that a request needs are documented as required', () => {
  const required = documented.flatMap(({ operationId, parameters = [] }) =>
    parameters.map(resolve).flatMap((one) => (one.required ? `${operationId} ${one.name}` : [])),
  );
  const byId = documented.filter(({ path }) => path.includes('{id}'));
  const ofUser = ['deleteMemories', 'listMemories', 'searchMemories'].map((id) => `${id} userId`);
  const inQuery = [...ofUser, 'listTasks status', 'searchMemories query'];
  const expected = [...byId.map(({ operationId }) => `${operationId} id`), ...inQuery];
  expect(required.sort()).toEqual(expected.sort());
});

test('every response is documented to have a request id, and few headers are always there', () => {
  const headers = documented.flatMap(({ responses }) =>
    Object.values(responses).map((response) => resolve(response).headers ?? {}),
  );
  expect(headers.filter((names) => !('X-Request-Id' in names))).toEqual([]);
  const required = Object.entries(document.components.headers).flatMap(([name, header]) =>
    resolve(header).required ? [name] : [],
  );
  expect(required).toEqual(['X-Request-Id', 'Location', 'WWW-Authenticate']);
});

test('every operation has a schema for its query or, if it sends one, for its body', () => {
  const lacking = app.routes.filter(({ method, hooks: { query, body } }) => {
    return (['POST', 'PATCH'].includes(method) ? body : query) === undefined;
  });
  const found = lacking.map(({ method, path }) => `${method} ${path}`).sort();
  expect(found).toEqual([...onlyDocumented, ...onlyRoutes, 'GET /health'].sort());
});

test("the client's methods match the operations", () => {
  const client = new MemoryClient({ apiKey: 'none', baseUrl: 'http://127.0.0.1:1' });
  const inIngest = methodsOf(client.ingest).map((name) => `ingest.${name}`);
  const methods = [...methodsOf(client), ...inIngest];
  expect(methods.filter((name) => !onlyMethods.includes(name)).sort()).toEqual(names);
});

test("the CLI's names of commands match its commands", async () => {
  const { commands } = await createProgram(testTerminal());
  expect(commands.map((command) => command.name())).toEqual(commandNames);
});

test("the CLI's commands match the operations", async () => {
  const io = testTerminal();
  const commands = leavesOf(await createProgram(io)).filter((words) => {
    const [group = ''] = words;
    return !onlyGroups.includes(group) && !onlyCommands.includes(words.join(' '));
  });
  const expected = new Set(names.map((name) => commandOf[name] ?? name));
  expect(commands.map((words) => words.join('.')).sort()).toEqual([...expected].sort());
});

describe('every operation is called over HTTP by a test', () => {
  const texts = new Glob('*.test.ts').scanSync({ cwd: `${import.meta.dir}/http`, absolute: true });
  const files = Promise.all([...texts].map((path) => Bun.file(path).text()));

  test.each(table)('%s', async (_, operation) => {
    const asked = (await files).filter((text) => asksFor(operation).test(text));
    expect(asked).not.toEqual([]);
  });

  test('a test that calls another operation does not count', () => {
    const get: Operation = { method: 'GET', path: '/v1/memories/:id' };
    expect(`'GET', "/v1/memories/\${id}"`).toMatch(asksFor(get));
    expect("'GET', '/v1/memories/mem_1'").toMatch(asksFor(get));
    expect(`'GET', "/v1/memories/\${id}/status"`).not.toMatch(asksFor(get));
    expect(`'DELETE', "/v1/memories/\${id}"`).not.toMatch(asksFor(get));
    expect("'GET', '/v1/memories?userId=u'").not.toMatch(asksFor(get));
  });
});

/** Matches test code that contains the method followed by the path, with any path parameters. */
function asksFor({ method, path }: Operation): RegExp {
  const filled = path.replace(/:\w+/g, '(?:\\$\\{[^}]+\\}|[^/?\'"`$\\s]+)');
  return new RegExp(`${method}\\W{1,20}${filled}(?=[?'"\`$])`);
}

describe('every field of a memory', () => {
  const shown = Object.keys(Memory.properties).sort();
  const written = { save: SaveRequest, update: UpdateRequest };
  const requests = Object.entries(written).map(([name, { properties }]) => {
    return [name, Object.keys(properties).sort()] as const;
  });

  test('is in the example of docs/http-api.md', async () => {
    const page = await textOf('../docs/http-api.md');
    const [, example = ''] = /^## Memories\n+```json\n(.*?)```/ms.exec(page) ?? [];
    expect(Object.keys(JSON.parse(example)).sort()).toEqual(shown);
  });

  test('is in MemoryItem of the Python SDK', async () => {
    const types = await textOf('../sdk/python/memory_service/types.py');
    const fields = fieldsOfPython(types, 'MemoryItem');
    expect(fields.filter((name) => name !== 'deleted').sort()).toEqual(shown);
  });

  test.each(requests)('is a parameter of %s() in the Python SDK', async (name, fields) => {
    const types = await textOf('../sdk/python/memory_service/types.py');
    const methods = await textOf('../sdk/python/memory_service/methods.py');
    const [, named = '', rest = ''] =
      new RegExp(`def ${name}\\(self, (.*?)\\*\\*\\w+: Unpack\\[(\\w+)\\]`).exec(methods) ?? [];
    const own = [...named.matchAll(/(\w+): /g)].flatMap(([, one]) => (one === 'id' ? [] : one));
    const taken = new Set([...own, ...fieldsOfPython(types, rest)]);
    expect([...taken].sort()).toEqual(fields.map(snakeCase).sort());
  });

  test.each(requests)('is an argument or an option of memory %s', async (name, fields) => {
    const io = testTerminal();
    const { commands } = await createProgram(io, [name]);
    const options = commands[0]?.options.map((option) => option.attributeName()) ?? [];
    const lacking = fields.filter((field) => !options.includes(optionOf[field] ?? field));
    expect(lacking).toEqual(['content']);
  });
});

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the fields of a class and its bases, without the options of every call. */
function fieldsOfPython(types: string, name: string): string[] {
  if (/^(?:TypedDict|CallOptions|ConditionalOptions|total=.*|)$/.test(name)) return [];
  const head = new RegExp(`^class ${name}\\((.*)\\):.*\\n((?: .*\\n|\\n)*)`, 'm');
  const [, bases = '', body = ''] = head.exec(types) ?? [];
  const own = [...body.matchAll(/^ {4}(\w+):/gm)].map(([, field = '']) => field);
  return [...own, ...bases.split(', ').flatMap((base) => fieldsOfPython(types, base))];
}

function textOf(path: string): Promise<string> {
  return Bun.file(`${import.meta.dir}/${path}`).text();
}

function methodsOf(value: object): string[] {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, one]) =>
    typeof one.value === 'function' && name !== 'constructor' ? [name] : [],
  );
  return [...own, ...methodsOf(prototype)];
}

function leavesOf({ commands }: AnyCommand): string[][] {
  return commands.flatMap((command) => {
    const below = leavesOf(command).map((words) => [command.name(), ...words]);
    return below.length > 0 ? below : [[command.name()]];
  });
}

test('every operation that needs a key documents the status 403', () => {
  const exceptions = documented.filter(({ responses }) => !('403' in responses));
  expect(exceptions.map(({ operationId }) => operationId).sort()).toEqual([
    'getHealth',
    'getLiveness',
    'getOpenApiDocument',
    'getService',
  ]);
});

test('every operation documents the status 500', () => {
  const exceptions = documented.filter(({ responses }) => !('500' in responses));
  expect(exceptions).toEqual([]);
});
