export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

export type Components = ReturnType<typeof createComponents>;

/** Converts the contract's schemas to OpenAPI. A schema with a title becomes a component. */
export function createComponents() {
  const schemas: JsonObject = {};

  function refer(schema: Json): Json {
    if (!isObject(schema) || typeof schema.title !== 'string') return convert(schema);
    const { title, ...rest } = schema;
    if (!(title in schemas)) {
      // The placeholder keeps the components in the order of their first use.
      schemas[title] = {};
      schemas[title] = convert(rest);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  function convert(schema: Json): Json {
    if (!isObject(schema)) return schema;
    const { properties, anyOf, items, additionalProperties, ...rest } = simplify(schema);
    return {
      ...rest,
      ...(isObject(properties) && { properties: mapValues(properties, refer) }),
      ...(Array.isArray(anyOf) && choice(anyOf, anyOf.map(refer))),
      ...(items !== undefined && { items: refer(items) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: refer(additionalProperties),
      }),
    };
  }

  return { schemas, refer: (schema: object) => refer(JSON.parse(JSON.stringify(schema))) };
}

/** Simplifies TypeBox's `anyOf` of literals and of nullable types, and its `patternProperties`. */
function simplify(schema: JsonObject): JsonObject {
  const { anyOf, patternProperties, ...rest } = schema;
  if (isObject(patternProperties)) {
    // mutate-ignore boolean: a record has one pattern
    const [additionalProperties = true] = Object.values(patternProperties);
    return { ...rest, additionalProperties };
  }
  if (!Array.isArray(anyOf) || !anyOf.every(isObject)) return schema;
  if (anyOf.every((one) => 'const' in one)) {
    return { type: 'string', enum: anyOf.map((one) => one.const ?? null), ...rest };
  }
  const [first = {}, second, third] = anyOf;
  if (second?.type === 'null' && third === undefined && typeof first.type === 'string') {
    return { ...first, type: [first.type, 'null'], ...rest };
  }
  return schema;
}

/** Returns a union, with a discriminator for code generators if `type` selects the alternative. */
function choice(schemas: Json[], references: Json[]): JsonObject {
  const types = schemas.map((schema) => typeOf(schema));
  if (types.some((type) => type === null)) return { anyOf: references };
  const targets = references.map((one) => (isObject(one) ? (one.$ref ?? null) : null));
  const mapping = Object.fromEntries(types.map((type, at) => [type, targets[at] ?? null]));
  return { oneOf: references, discriminator: { propertyName: 'type', mapping } };
}

/** Returns the literal that a schema requires in the field `type`, or null. */
function typeOf(schema: Json): string | null {
  if (!isObject(schema) || !isObject(schema.properties)) return null;
  const { type } = schema.properties;
  return isObject(type) && typeof type.const === 'string' ? type.const : null;
}

function mapValues(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, one]) => [name, change(one)]));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
