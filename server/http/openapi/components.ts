import type { TSchema } from '@sinclair/typebox';
import { namedSchemas } from './schemas.ts';

export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

export type Components = {
  /** What has been referred to so far, by name. */
  schemas: JsonObject;
  refer(schema: TSchema): Json;
};

/**
 * Turns the contract's schemas into those of a document: one with a name is written once, under
 * `components`, and referred to from everywhere else.
 */
export function createComponents(): Components {
  // By their text, since TypeBox copies a schema to mark it as optional.
  const names = new Map(namedSchemas.map(([name, schema]) => [JSON.stringify(schema), name]));
  const schemas: JsonObject = {};

  function refer(schema: Json): Json {
    const name = names.get(JSON.stringify(schema));
    if (name === undefined) return inline(schema);
    if (!(name in schemas)) {
      // Holds the place, so that components stand in the order in which they are met.
      schemas[name] = {};
      schemas[name] = inline(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function inline(schema: Json): Json {
    if (Array.isArray(schema)) return schema.map(refer);
    if (!isObject(schema)) return schema;
    const parts = Object.entries(simplified(schema)).map(([key, part]) => [key, refer(part)]);
    return withDiscriminator(Object.fromEntries(parts), schema);
  }

  return { schemas, refer: (schema) => refer(JSON.parse(JSON.stringify(schema))) };
}

/**
 * TypeBox writes every choice as `anyOf`, and a map by a pattern that all names match; readers and
 * generators do better with plainer words.
 */
function simplified(schema: JsonObject): JsonObject {
  const { anyOf, patternProperties, ...rest } = schema;
  if (isObject(patternProperties)) {
    return { ...rest, additionalProperties: patternProperties[everyName] ?? true };
  }
  if (!Array.isArray(anyOf) || !anyOf.every(isObject)) return schema;
  if (anyOf.every((one) => 'const' in one)) {
    return { type: 'string', enum: anyOf.map((one) => one.const ?? null), ...rest };
  }
  const [first = {}, second, third] = anyOf;
  if (second?.type === 'null' && third === undefined && typeof first.type === 'string') {
    return { ...first, type: [first.type, 'null'], ...rest };
  }
  return typesOf(schema) === null ? schema : { oneOf: anyOf, ...rest };
}

/** A choice that the field `type` decides says so. */
function withDiscriminator(written: JsonObject, schema: JsonObject): JsonObject {
  const types = typesOf(schema);
  if (types === null || !Array.isArray(written.oneOf)) return written;
  const targets = written.oneOf.map((one) => (isObject(one) ? (one.$ref ?? null) : null));
  const mapping = Object.fromEntries(types.map((type, index) => [type, targets[index] ?? null]));
  return { ...written, discriminator: { propertyName: 'type', mapping } };
}

/** What each of the choices demands of the field `type`; null where one demands nothing. */
function typesOf({ anyOf }: JsonObject): string[] | null {
  if (!Array.isArray(anyOf)) return null;
  const types = anyOf.flatMap((one) => {
    const fields = isObject(one) ? one.properties : undefined;
    const type = isObject(fields) ? fields.type : undefined;
    return isObject(type) && typeof type.const === 'string' ? [type.const] : [];
  });
  return types.length === anyOf.length && types.length > 0 ? types : null;
}

const everyName = '^(.*)$';

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
