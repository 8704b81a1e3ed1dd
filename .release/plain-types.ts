import { join } from 'node:path';
import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox';
import { root } from './staging.ts';

/**
 * The contract derives its types from TypeBox schemas (`Static<typeof Memory>`). This module writes
 * each type out, so that compiling against the SDK does not require TypeBox.
 */

type Module = Record<string, unknown>;

const modules = new Map<string, Module>();
for (const path of new Bun.Glob('*.ts').scanSync({ cwd: join(root, 'sdk/contract') })) {
  modules.set(path.replace(/\.ts$/, ''), await import(join(root, 'sdk/contract', path)));
}

/** Removes TypeBox from the declaration file of a contract module. */
export async function plainTypes(path: string, declarations: string): Promise<string> {
  const name = path.replace(/^contract\/|\.d\.ts$/g, '');
  const { text, docs } = withoutSchemas(declarations);
  return text
    .replace(/^import .*'@sinclair\/typebox';\n/gm, '')
    .replace(/Static<typeof (\w+)>/g, (_, type: string) => print(schemaOf(name, type), name, type))
    .replace(/keyof typeof (\w+Schemas)\b/g, (_, table: string) =>
      keysOf(modules.get(name)?.[table]),
    )
    .replace(/(\*\/\n)?^export type (\w+)/gm, (match, documented, type: string) => {
      const said = docs.get(type) ?? comment(modules.get(name)?.[type], '');
      return documented ? match : `${said}${match}`;
    });
}

/**
 * Drops functions, and the constants that no type depends on, because their types may name TypeBox.
 * Keeps the doc comment of a schema for the type of the same name.
 */
function withoutSchemas(declarations: string) {
  const docs = new Map<string, string>();
  const statement =
    /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^(?:export )?declare (?:const|function) (\w+)[\s\S]*?;\n(?![\s}])/gm;
  const text = declarations.replace(statement, (whole, doc, name) => {
    const isUsed = new RegExp(`\\btypeof ${name}\\b`).test(declarations);
    if (isUsed && !whole.includes('typebox')) return whole;
    if (doc !== undefined) docs.set(name, doc);
    return '';
  });
  return { text: `${text.trimEnd()}\n`, docs };
}

function keysOf(table: unknown): string {
  return Object.keys(Object(table))
    .map((key) => JSON.stringify(key))
    .join(' | ');
}

function schemaOf(module: string, type: string): TSchema {
  const schema = modules.get(module)?.[type];
  if (isSchema(schema)) return schema;
  throw new Error(`sdk/contract/${module}.ts has no schema ${type}`);
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && Kind in value;
}

/** Renders a schema as a type: as a reference to a named type, or with `self` as a definition. */
function print(schema: TSchema, module: string, self?: string, indent = ''): string {
  const name = self === undefined ? nameOf(schema, module) : undefined;
  if (name !== undefined) return name;
  const inner = (one: TSchema, deeper = indent) => print(one, module, undefined, deeper);
  switch (schema[Kind]) {
    case 'Object':
      return printObject(schema, indent, (one) => inner(one, `${indent}    `));
    case 'Array':
      return `Array<${inner(schema.items)}>`;
    case 'Union':
      return schema.anyOf.map((one: TSchema) => inner(one)).join(' | ');
    case 'Record': {
      const [value] = Object.values<TSchema>(schema.patternProperties);
      return `Record<string, ${value === undefined ? 'unknown' : inner(value)}>`;
    }
    default:
      return printSimple(schema);
  }
}

function printSimple(schema: TSchema): string {
  switch (schema[Kind]) {
    case 'Literal':
      return JSON.stringify(schema.const);
    case 'String':
      return openEnum(schema) ?? 'string';
    case 'Text':
    case 'Instant':
      return 'string';
    case 'Integer':
    case 'Number':
      return 'number';
    case 'Boolean':
      return 'boolean';
    case 'Null':
      return 'null';
    case 'Timestamp':
      return 'string | number';
    default:
      throw new Error(`unsupported kind ${schema[Kind]}: add its type to printSimple`);
  }
}

/** Returns undefined if the schema is not an extensible enum. */
function openEnum(schema: TSchema): string | undefined {
  const values: string[] | undefined = schema['x-extensible-enum'];
  return values?.map((value) => JSON.stringify(value)).join(' | ');
}

function printObject(schema: TSchema, indent: string, inner: (one: TSchema) => string): string {
  const fields = Object.entries<TSchema>(schema.properties).map(([name, field]) => {
    const optional = OptionalKind in field ? '?' : '';
    return `${comment(field, `${indent}    `)}${indent}    ${name}${optional}: ${inner(field)};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function comment(schema: unknown, indent: string): string {
  const said = isSchema(schema) ? schema.description : undefined;
  return said === undefined ? '' : `${indent}/** ${said.replaceAll('*/', '*\\/')} */\n`;
}

/** Returns the name of the contract's type for the schema, as an import if needed. */
function nameOf(schema: TSchema, from: string): string | undefined {
  // JSON omits symbols, so an optional schema has the same text as the required one.
  const text = JSON.stringify(schema);
  for (const [module, exported] of modules) {
    for (const [name, candidate] of Object.entries(exported)) {
      if (!typeNames.has(name) || !isSchema(candidate)) continue;
      if (JSON.stringify(candidate) !== text) continue;
      return module === from ? name : `import('./${module}.js').${name}`;
    }
  }
  return undefined;
}

/** The schemas that also have an exported type. `UserId`, for example, has none. */
const typeNames = new Set(
  await Promise.all(
    [...modules.keys()].map(async (module) => {
      const text = await Bun.file(join(root, 'sdk/contract', `${module}.ts`)).text();
      return [...text.matchAll(/^export type (\w+)/gm)].map(([, name = '']) => name);
    }),
  ).then((names) => names.flat()),
);
