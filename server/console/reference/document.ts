/* The parts of an OpenAPI 3.1 document that the reference shows. */

export type Schema = {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  examples?: unknown[];
};

export type Parameter = {
  $ref?: string;
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
};

type Body = { content?: Record<string, { schema?: Schema }> };
type Response = Body & { $ref?: string; description?: string };

type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Response>;
};

type Document = {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
};

/** An operation with its method and path, without references. */
export type Described = Omit<Operation, 'parameters' | 'requestBody' | 'responses'> & {
  method: string;
  path: string;
  parameters: Parameter[];
  body: Schema | null;
  responses: { status: string; description: string; body: Schema | null }[];
};

/** Returns what a reference refers to, or what it is given. */
export type Resolve = <T extends { $ref?: string }>(given: T) => T;

export type Reference = Pick<Document, 'info' | 'tags'> & {
  operations: Described[];
  resolve: Resolve;
};

export function readDocument(document: Document): Reference {
  const resolve: Resolve = (given) => {
    if (given.$ref === undefined) return given;
    const names = given.$ref.replace(/^#\//, '').split('/');
    const found = names.reduce<unknown>((value, name) => Object(value)[name], document);
    return resolve(found as typeof given);
  };
  const schemaOf = ({ content = {} }: Body = {}) => Object.values(content)[0]?.schema ?? null;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...operation }]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map(resolve),
      body: schemaOf(requestBody),
      responses: Object.entries(operation.responses).map(([status, given]) => {
        const { description = '', ...response } = resolve(given);
        return { status, description, body: schemaOf(response) };
      }),
    })),
  );
  return { info: document.info, tags: document.tags, operations, resolve };
}

type FieldRow = { name: string; type: string; isRequired: boolean; description: string };

const maxLevels = 4;

/** Lists the fields of an object, each followed by the fields in it. */
export function fieldsOf(schema: Schema, resolve: Resolve, prefix = '', level = 1): FieldRow[] {
  const { properties = {}, required = [] } = resolve(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const { items, description = '', ...resolved } = resolve(field);
    const path = `${prefix}${name}${items === undefined ? '' : '[]'}`;
    const row = {
      name: path,
      type: typeOf(field, resolve),
      isRequired: required.includes(name),
      description: field.description ?? description,
    };
    const inner =
      level < maxLevels ? fieldsOf(items ?? resolved, resolve, `${path}.`, level + 1) : [];
    return [row, ...inner];
  });
}

/** Describes the type of a value with its limits, such as "integer, 1 to 100, default 20". */
export function typeOf(schema: Schema, resolve: Resolve): string {
  const resolved = resolve(schema);
  const { type, anyOf, items, format, default: preset } = resolved;
  if (resolved.enum !== undefined)
    return resolved.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (resolved.const !== undefined) return JSON.stringify(resolved.const);
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, resolve)).join(' | ');
  const name = [type ?? 'any'].flat().join(' | ');
  return [
    items === undefined ? name : `list of ${typeOf(items, resolve)}`,
    format,
    range(resolved.minimum, resolved.maximum, ''),
    range(resolved.minLength, resolved.maxLength, ' characters'),
    preset === undefined ? undefined : `default ${JSON.stringify(preset)}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function range(min: number | undefined, max: number | undefined, unit: string) {
  if (max === undefined) return undefined;
  return min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`;
}

/** Examples of a value, as formatted JSON. */
export function examplesOf(schema: Schema | null, resolve: Resolve): string[] {
  if (schema === null) return [];
  const { examples, anyOf = [] } = resolve(schema);
  if (examples === undefined) return anyOf.flatMap((one) => examplesOf(one, resolve));
  return examples.map((example) => JSON.stringify(example, null, 2));
}
