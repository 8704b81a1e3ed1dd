import { Kind, type TSchema, Type } from '@sinclair/typebox';
import { type ErrorBody, type ErrorCode, errorTable } from '../../../sdk/contract/errors.ts';
import * as ingest from '../../../sdk/contract/ingest.ts';
import * as memory from '../../../sdk/contract/memory.ts';
import * as page from '../../../sdk/contract/page.ts';
import * as search from '../../../sdk/contract/search.ts';
import * as status from '../../../sdk/contract/status.ts';
import * as text from '../../../sdk/contract/text.ts';
import * as transfer from '../../../sdk/contract/transfer.ts';

const closed = { additionalProperties: false };

const FieldError = Type.Object(
  {
    field: Type.String({ description: 'The dotted path of the field; empty for the whole body.' }),
    message: Type.String({ description: 'What is wrong with it, for people.' }),
  },
  { ...closed, description: 'One invalid field.' },
);

/** The contract has this shape as a type alone, so that clients need no TypeBox to read errors. */
export const ErrorAnswer = Type.Object(
  {
    error: Type.Union(
      Object.keys(errorTable).map((code) => Type.Literal(code as ErrorCode)),
      { description: 'What happened, for programs.' },
    ),
    message: Type.String({ description: 'What happened, for people. Do not parse it.' }),
    details: Type.Optional(
      Type.Array(FieldError, { description: 'Only with validation errors: up to 20 fields.' }),
    ),
    requestId: Type.String({ description: 'Names this request in the log; also in X-Request-Id.' }),
  } satisfies Record<keyof ErrorBody, TSchema>,
  { ...closed, description: 'The body of every error.' },
);

const contract = { ...text, ...memory, ...page, ...search, ...ingest, ...status, ...transfer };

/** Every schema that has a name: those that the contract exports, under their names there. */
export const namedSchemas: [string, TSchema][] = [
  ...Object.entries(contract).flatMap(([name, value]): [string, TSchema][] =>
    isSchema(value) ? [[name, value]] : [],
  ),
  ...Object.entries(ingest.recordSchemas).map(([type, schema]): [string, TSchema] => [
    `${type.charAt(0).toUpperCase()}${type.slice(1)}Record`,
    schema,
  ]),
  ['FieldError', FieldError],
  ['ErrorBody', ErrorAnswer],
];

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && Kind in value;
}
