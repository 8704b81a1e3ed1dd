import { fromJsonSchema } from '@modelcontextprotocol/server';
import { Ajv, AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { cutLine } from './text.ts';
import type { Tool } from './tools.ts';

/** An invalid call must not cause a huge response. */
const maxProblems = 20;
const maxNameLength = 200;

/** Compiles the schema of a tool. Compilation is expensive: call this once, when a module loads. */
export function compiled({ inputSchema }: Tool) {
  return fromJsonSchema(inputSchema, validator);
}

const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true });
const validator = new AjvJsonSchemaValidator({
  compile: (schema) => ajv.compile(schema as object),
  getSchema: (reference) => ajv.getSchema(reference),
  errorsText: (problems: Problem[]) => problems.slice(0, maxProblems).map(sentence).join(', '),
});

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
