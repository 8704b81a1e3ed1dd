import { describe, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { exampleMemory } from '../../sdk/contract/memory.ts';
import { document, documented, examplesOf, jsonOf, misfit, resolve } from '../support/document.ts';
import { send, withServer } from '../support/server.ts';

/* Sends every documented example, and validates every response against the document. */

type Operation = (typeof documented)[number];

const last = { nextCursor: null };
const lastCreatedAt = exampleMemory.createdAt;
const usersOf = (memories: number) => ({ userId: 'u', memories, bytes: 1, lastCreatedAt });

describe('the document', () => {
  test('is valid OpenAPI 3.1 according to an independent validator', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    const broken = { ...structuredClone(document), paths: { 'no-slash': {} } };
    expect((await validator.validate(broken)).valid).toBe(false);
  });

  test.each(Object.entries(document.components.schemas))(
    '%s has a description, and examples that match it',
    (_, { examples = [], ...schema }) => {
      expect(schema.description).toMatch(/\w/);
      for (const example of examples) expect(misfit(schema, example)).toBeNull();
    },
  );

  test.each(documented)('$operationId has examples that match their schemas', (operation) => {
    const bodies = [operation.requestBody, ...Object.values(operation.responses).map(resolve)];
    for (const content of bodies.map(jsonOf)) {
      for (const example of examplesOf(content)) {
        expect(misfit(content.schema ?? {}, example)).toBeNull();
      }
    }
    if (operation.requestBody) expect(examplesOf(jsonOf(operation.requestBody))).not.toEqual([]);
    for (const one of (operation.parameters ?? []).map(resolve)) {
      if (one.example !== undefined) expect(misfit(one.schema, one.example)).toBeNull();
    }
  });

  test('has headers whose examples match their schemas', () => {
    const unfit = Object.values(document.components.headers).map(({ schema = {}, example }) =>
      misfit(schema, example),
    );
    expect(unfit.filter((problem) => problem !== null)).toEqual([]);
    expect(misfit(document.components.headers['Retry-After']?.schema ?? {}, 1)).toBeNull();
  });

  test.each([
    ['SaveRequest', { userId: 'u-1', content: 'a\0' }, null],
    ['StatusesRequest', { memoryIds: ['mem_\0'] }, null],
    ['ImportRequest', { items: [{ ...exampleMemory, version: 1e12 + 1 }] }, null],
    ['DeletedMemories', { deleted: -1 }, { deleted: 0 }],
    ['UserPage', { ...last, items: [usersOf(0)] }, { ...last, items: [usersOf(1)] }],
    ['MemoryPage', { ...last, items: [{ id: 1 }] }, { ...last, items: [] }],
  ])('has a schema %s with the limits of the service', (name, rejected, accepted) => {
    const schema = { $ref: `#/components/schemas/${name}` };
    expect(misfit(schema, rejected)).toBeString();
    if (accepted !== null) expect(misfit(schema, accepted)).toBeNull();
  });

  test('declares the metadata filter as clients send it', () => {
    const filters = documented
      .flatMap(({ parameters = [] }) => parameters.map(resolve))
      .filter(({ name }) => name === 'metadata');
    expect(filters).toHaveLength(2);
    // With `explode`, openapi-generator's TypeScript client sends `k=v`, not `metadata[k]=v`.
    for (const filter of filters) {
      expect(filter).toMatchObject({ in: 'query', style: 'deepObject' });
      expect(filter).not.toHaveProperty('explode');
      expect(misfit(filter.schema, { k: 'v' })).toBeNull();
      expect(misfit(filter.schema, { '': 'v' })).toBeString();
    }
  });

  test('has a camelCase id for every operation', () => {
    const names = documented.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^(?:save|list|search|get|update|delete|ingest|export|import)[A-Z]\w+$/);
    }
  });

  test('has responses that allow fields and values of later versions', () => {
    const responses = documented.flatMap((one) => Object.values(one.responses).map(resolve));
    const reached = new Set<string>();
    const visit = (json: string): void => {
      expect(json).not.toContain('"additionalProperties":false');
      expect(json).not.toContain('"enum"');
      for (const [, name = ''] of json.matchAll(/#\/components\/schemas\/(\w+)/g)) {
        if (reached.has(name)) continue;
        reached.add(name);
        visit(JSON.stringify(document.components.schemas[name]));
      }
    };
    visit(JSON.stringify(responses));
    expect(reached).toContain('Memory');
    expect(reached).toContain('Error');
  });

  test('requires request bodies without additional fields, as the service does', () => {
    for (const { operationId, requestBody } of documented) {
      const { schema } = jsonOf(requestBody);
      if (schema === undefined) continue;
      const description = `At most ${/^(?:save|update)/.test(operationId) ? 1 : 5} MiB by default.`;
      expect(requestBody).toMatchObject({ required: true, description });
      const { oneOf, anyOf } = resolve(schema) as { oneOf?: object[]; anyOf?: object[] };
      for (const one of (oneOf ?? anyOf ?? [schema]).map((schema) => resolve(schema))) {
        expect(one).toMatchObject({ additionalProperties: false });
      }
    }
  });

  test('describes comments and messages only by their properties', () => {
    const { TimelineEntry, Message } = document.components.schemas;
    const keywords = ['type', 'properties', 'additionalProperties', 'description', 'examples'];
    expect(Object.keys(TimelineEntry ?? {}).sort()).toEqual([...keywords, 'required'].sort());
    expect(Object.keys(Message ?? {}).sort()).toEqual(keywords.sort());
    expect(TimelineEntry).toMatchObject({ required: ['content'], additionalProperties: false });
    expect(misfit(Message ?? {}, { content: 'x', timestamp: null, role: null })).toBeNull();
    expect(misfit(Message ?? {}, { content: 'x', text: 'y' })).toBeString();
  });

  test('has an idempotency key only for writes, without an example that clients would send', () => {
    const keys = documented.flatMap(({ method, parameters = [] }) => {
      const key = parameters.map(resolve).find(({ name }) => name === 'Idempotency-Key');
      return key === undefined ? [] : [{ method, key }];
    });
    expect(new Set(keys.map(({ method }) => method))).toEqual(new Set(['POST', 'PATCH', 'DELETE']));
    for (const { key } of keys) expect(JSON.stringify(key)).not.toContain('"example');
  });
});

describe('the running server', async () => {
  const limits = { MEMORY_MAX_BODY_BYTES: '4096', MEMORY_RATE_LIMIT: '1000/60' };
  const seen = new Set<string>();
  const server = await withServer(limits);
  const key = await server.createKey('default', { metricsOnly: true });
  /** `server` with a key that can only read the metrics. */
  const restricted = { ...server, key };
  const exhausted = await withServer({ MEMORY_RATE_LIMIT: '1/60' });
  await send(exhausted, 'GET', '/v1/memories?userId=u-1');

  async function pathOf({ path, parameters = [] }: Operation, id?: string): Promise<string> {
    const memory = { userId: 'u-1', content: 'a memory to work on' };
    const target = path.includes('{id}') ? (id ?? (await server.client.save(memory)).id) : '';
    const query = new URLSearchParams();
    for (const { name, in: location, example } of parameters.map(resolve)) {
      if (location !== 'query' || example === undefined) continue;
      if (typeof example !== 'object') query.set(name, String(example));
      else
        for (const [key, one] of Object.entries(example ?? {})) query.set(`${name}[${key}]`, one);
    }
    return `${path.replace('{id}', target)}?${query}`.replace(/\?$/, '');
  }

  async function expectDocumented(operation: Operation, status: number, response: Response) {
    const { operationId, responses } = operation;
    expect(response.status).toBe(status);
    const answer = resolve(responses[status] ?? {});
    expect(answer.description).toMatch(/\w/);
    const { schema } = jsonOf(answer);
    const text = await response.text();
    const type = response.headers.get('content-type');
    if (schema === undefined) expect([text, type]).toEqual(['', null]);
    else expect(misfit(schema, JSON.parse(text))).toBeNull();
    for (const name of Object.keys(document.components.headers)) {
      const about = answer.headers?.[name];
      if (response.headers.has(name)) expect([name, about]).toEqual([name, expect.anything()]);
      if (about && resolve(about).required) expect(response.headers.has(name)).toBe(true);
    }
    seen.add(`${operationId} ${status}`);
  }

  for (const operation of documented) {
    const { operationId, method, security, requestBody, responses } = operation;
    // A save also documents 200, but every example creates a memory and returns 201.
    const success = Number(Object.keys(responses).findLast((status) => status < '300'));
    const bodies = examplesOf(jsonOf(requestBody));
    const [body] = bodies;

    test(`${operationId} returns ${success} for each of its examples`, async () => {
      for (const example of bodies.length > 0 ? bodies : [undefined]) {
        const headers = method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() };
        const body = example === undefined ? {} : { body: example };
        const path = await pathOf(operation);
        const response = await send(server, method, path, { headers, ...body });
        await expectDocumented(operation, success, response);
      }
    });

    if (security !== undefined) continue;
    const request = body === undefined ? {} : { body };
    /** How to get each documented status other than the success. */
    const others: Record<string, (path: string) => Promise<Response>> = {
      200: async (path) => {
        const keyed = { body: { ...Object(body), externalId: crypto.randomUUID() } };
        await send(server, method, path, keyed);
        return send(server, method, path, keyed);
      },
      304: (path) => send(server, method, path, { headers: { 'if-none-match': '"1"' } }),
      400: (path) => send(server, method, `${path}${path.includes('?') ? '&' : '?'}a=1`, request),
      401: (path) => send(server, method, path, { ...request, headers: { authorization: '' } }),
      403: (path) => send(restricted, method, path, request),
      404: async () => send(server, method, await pathOf(operation, 'mem_unknown'), request),
      412: (path) => send(server, method, path, { ...request, headers: { 'if-match': '"7"' } }),
      413: (path) => {
        return send(server, method, path, { body: { ...Object(body), more: 'x'.repeat(5_000) } });
      },
      415: (path) =>
        send(server, method, path, { body, headers: { 'content-type': 'text/plain' } }),
      429: (path) => send(exhausted, method, path, request),
    };
    const always = ['400', '401', '429', ...(body === undefined ? [] : ['413', '415'])];
    const statuses = new Set([...always, ...Object.keys(responses)]);
    statuses.delete(String(success));

    test.each([...statuses].filter((status) => status in others))(
      `${operationId} returns %s as documented`,
      async (status) => {
        const response = await others[status]?.(await pathOf(operation));
        if (response !== undefined) await expectDocumented(operation, Number(status), response);
      },
    );
  }

  test('returns as documented that the memory of a repeated request has been deleted', async () => {
    const repeated: string[] = [];
    for (const operation of documented.filter(({ requestBody }) => requestBody !== undefined)) {
      const { operationId, method, requestBody } = operation;
      const [body] = examplesOf(jsonOf(requestBody));
      const path = await pathOf(operation);
      const write = () =>
        send(server, method, path, { body, headers: { 'idempotency-key': path } });
      const response = await write();
      const { id, memoryId = id } = Object(await response.json());
      if (memoryId === undefined) continue;
      await server.client.delete(memoryId);
      await expectDocumented(operation, response.status, await write());
      repeated.push(operationId);
    }
    expect(repeated).toHaveLength(6);
  });

  test('returned every documented response except 500 and 503', () => {
    const answers = documented
      .filter(({ security }) => security === undefined)
      .flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      )
      .filter((answer) => !/ 50[03]$/.test(answer));
    expect(answers.filter((answer) => !seen.has(answer))).toEqual([]);
  });

  test('serves the document with its version, without a key', async () => {
    const response = await fetch(`${server.url}/openapi.json`);
    const served = (await response.json()) as typeof document;
    expect(response.headers.get('content-type')).toContain('application/json');
    const { version } = served.info;
    expect(served).toEqual({ ...document, info: { ...document.info, version } });
    expect((await server.client.health()).version).toBe(version);
  });
});
