import {
  fromJsonSchema,
  type JsonSchemaType,
  type jsonSchemaValidator,
} from '@modelcontextprotocol/server';
import { Ajv, AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { cutLine } from './text.ts';
import type { Tool } from './tools.ts';

/** An invalid call must not cause a huge response. */
const maxProblems = 20;
const maxNameLength = 200;

/** Compiles the schema of a tool. Compilation is expensive: call this once, when a module loads. */
export function compiled({ properties, required }: Tool) {
  const rest = { ...(required && { required }), additionalProperties: false };
  return fromJsonSchema({ type: 'object', properties, ...rest }, validator);
}

/** Models and clients often send null for an argument that they leave out. */
function withoutNulls(args: unknown): object {
  const given = Object.entries(Object(args)).filter(([, value]) => value !== null);
  return Object.fromEntries(given);
}

const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true });
const ajvValidator = new AjvJsonSchemaValidator({
  compile: (schema) => ajv.compile(schema as object),
  getSchema: (reference) => ajv.getSchema(reference),
  errorsText: (problems: Problem[]) => problems.slice(0, maxProblems).map(sentence).join(', '),
});

const validator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType) {
    const check = ajvValidator.getValidator<T>(schema);
    return (args: unknown) => check(withoutNulls(args));
  },
};

type Problem = {
  instancePath: string;
  message?: string;
  params: { additionalProperty?: string; allowedValues?: string[] };
};

/** The library's own messages name neither an unknown argument nor the allowed values. */
function sentence({ instancePath, message = 'is invalid', params }: Problem): string {
  const { additionalProperty: unknown, allowedValues: values } = params;
  if (unknown !== undefined) return `${cutLine(unknown, maxNameLength)}: is not a known argument`;
  const name = instancePath.slice(1);
  const problem = values === undefined ? message : `must be one of ${values.join(', ')}`;
  return name === '' ? problem : `${name}: ${problem}`;
}
