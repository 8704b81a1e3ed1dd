import { describe, expect, test } from 'bun:test';
import { Glob } from 'bun';
import type { AnyCommand } from '../cli/commander.ts';
import { createProgram } from '../cli/program.ts';
import { type Operation, type OperationName, operations } from '../sdk/contract/operations.ts';
import { MemoryClient } from '../sdk/index.ts';
import { routeLabels } from '../server/metrics/table.ts';
import { testTerminal } from './cli/command.ts';
import { app, documented, documentOf, routeOf } from './support/document.ts';

/*
 * Each operation in the contract must be a route, an OpenAPI operation, an SDK method and a
 * command, and at least one test must call it over HTTP. No layer may have any other operation.
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
const onlyCommands = [
  ...['backup', 'completion', 'doctor', 'help', 'migrate', 'restore', 'serve', 'top'],
];
const onlyGroups = ['keys', 'mcp', 'profile'];
/** Operations whose command has another name. */
const commandOf: Record<string, string> = {
  deleteAll: 'delete',
  key: 'whoami',
  statusMany: 'wait',
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

test('the documented success status of every operation matches the table', () => {
  for (const [name, operation] of table as [OperationName, Operation][]) {
    const { success, replaced = success } = operation;
    const { responses } = documentOf(name);
    const found = Object.keys(responses).filter((status) => status < '300');
    const expected = [...new Set([success, replaced])].map(String).sort();
    expect([name, found]).toEqual([name, expected]);
  }
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

test("the CLI's commands match the operations", async () => {
  const io = testTerminal({ code: 0, stdout: '', stderr: '' });
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
    const get: Operation = { method: 'GET', path: '/v1/memories/:id', success: 200 };
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
