import { Kind, type TSchema, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { descriptiveFields, recordMetadata } from './descriptive.ts';
import type { FieldError } from './errors.ts';
import {
  ChatRequest,
  DocumentRequest,
  type IngestRecord,
  type RecordType,
  recordSchemas,
  SupportRequest,
} from './ingest.ts';
import type { TimelineEntry } from './record-data.ts';
import {
  instantProblem,
  metadataProblem,
  pointInTimeProblem,
  textProblem,
  timestampProblem,
} from './text.ts';

/*
 * Validation of requests, with messages for people. The server responds with them, and the command
 * line's dry run reports them without a server.
 */

/** At most this many fields are reported, so that an invalid body cannot cause a huge response. */
const maxErrors = 20;
/** The path contains field names of the client, of any length. */
const maxPathLength = 200;

/** Returns the invalid fields of a value; empty where it is valid. */
export type Validator = (value: unknown) => FieldError[];

/** Compiles a schema: call it once, where a module loads. */
export function validator(schema: TSchema): Validator {
  const check = TypeCompiler.Compile(schema);
  return (value) => (check.Check(value) ? [] : describe(check, value));
}

/** A field error as one sentence. */
export function sentence({ field, message }: FieldError): string {
  return field === '' ? message : `${field}: ${message}`;
}

/** The endpoints for one type of record, whose bodies therefore have no `type`. */
export const validateSupport = recordValidator(SupportRequest, 'ticket');
export const validateDocument = recordValidator(DocumentRequest, 'document');
export const validateChat = recordValidator(ChatRequest, 'conversation');

const validateTyped = Object.fromEntries(
  Object.entries(recordSchemas).map(([type, schema]) => [type, recordValidator(schema)]),
) as Record<RecordType, Validator>;

const validateType = validator(
  Type.Object({ type: Type.Union(Object.keys(recordSchemas).map((type) => Type.Literal(type))) }),
);

/** A record with its type, as `POST /v1/ingest` and each item of a batch hold it. */
export function validateRecord(value: unknown): FieldError[] {
  const errors = validateType(value);
  return errors.length > 0 ? errors : validateTyped[(value as IngestRecord).type](value);
}

/** What a schema cannot express is validated once the schema has passed. */
function recordValidator(schema: TSchema, type?: RecordType): Validator {
  const validate = validator(schema);
  return (value) => {
    const errors = validate(value);
    if (errors.length > 0) return errors;
    const record = (type === undefined ? value : { ...(value as object), type }) as IngestRecord;
    const ofData = [...authorErrors(record), ...openDataErrors(record)];
    // Invalid data makes the metadata invalid that is made of it; it is reported once.
    return ofData.length > 0 ? ofData.slice(0, maxErrors) : mergedErrors(record);
  };
}

function authorErrors(record: IngestRecord): FieldError[] {
  if (record.type === 'ticket') return entryErrors('data.comments', 'author', record.data.comments);
  if (record.type !== 'conversation') return [];
  return entryErrors('data.messages', 'role', record.data.messages);
}

function entryErrors(path: string, usual: 'author' | 'role', entries: TimelineEntry[]) {
  const errors: FieldError[] = [];
  for (const [index, { author, role }] of entries.entries()) {
    const field = `${path}.${index}.${usual}`;
    if (author === undefined && role === undefined) errors.push({ field, message: 'is required' });
    if (author !== undefined && role !== undefined) {
      errors.push({ field, message: 'author and role mean the same; give one of them' });
    }
  }
  return errors;
}

function openDataErrors(record: IngestRecord): FieldError[] {
  if (record.type !== 'event' && record.type !== 'profile') return [];
  const message = metadataProblem(descriptiveFields(record));
  return message === null ? [] : [{ field: 'data', message }];
}

function mergedErrors(record: IngestRecord): FieldError[] {
  const message = metadataProblem(recordMetadata(record));
  if (message === null) return [];
  return [{ field: 'metadata', message: `${message}, with the descriptive fields of data` }];
}

function describe(check: TypeCheck<TSchema>, value: unknown): FieldError[] {
  const errors = new Map<string, FieldError>();
  for (const error of check.Errors(value)) {
    const field = dotted(error.path);
    // A missing property is reported again as one of the wrong type.
    if (!errors.has(field)) errors.set(field, { field, message: problem(error) });
    // Validating the items of a list beyond its limit could block the event loop for seconds.
    if (errors.size === maxErrors || error.type === ValueErrorType.ArrayMaxItems) break;
  }
  return [...errors.values()];
}

function dotted(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  const path = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
  return path.length <= maxPathLength ? path : `${path.slice(0, maxPathLength)}…`;
}

function problem({ type, schema, value }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required';
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field';
    case ValueErrorType.ArrayMinItems:
      return 'must not be empty';
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema.maxItems} items`;
    case ValueErrorType.IntegerMinimum:
      return `must be at least ${schema.minimum}`;
    case ValueErrorType.IntegerMaximum:
      return `must be at most ${schema.maximum}`;
    case ValueErrorType.Literal:
      return `must be ${schema.const}`;
    case ValueErrorType.Union:
      return `must be one of ${schema.anyOf.map((one: TSchema) => one.const).join(', ')}`;
    case ValueErrorType.StringPattern:
      return 'must be an id that this service issued';
    case ValueErrorType.Kind:
      return problemOfKind(schema, value);
    default:
      return `must be ${/^[aeiou]/.test(schema.type) ? 'an' : 'a'} ${schema.type}`;
  }
}

function problemOfKind(schema: TSchema, value: unknown): string {
  return problems[schema[Kind]]?.(value, schema) ?? 'is invalid';
}

const problems: Record<string, (value: unknown, schema: TSchema) => string | null> = {
  Text: (value, schema) => textProblem(schema, value),
  Timestamp: timestampProblem,
  Instant: instantProblem,
  PointInTime: pointInTimeProblem,
  Metadata: metadataProblem,
};
