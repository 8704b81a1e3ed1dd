import { Kind, type TSchema, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { descriptiveFields, recordMetadata } from './descriptive.ts';
import type { FieldError } from './errors.ts';
import {
  ConversationRequest,
  conversationOf,
  DocumentRequest,
  type IngestRecord,
  isMessagesRequest,
  MessagesRequest,
  type RecordType,
  recordSchemas,
  SupportRequest,
} from './ingest.ts';
import { firstItemErrors } from './list.ts';
import { kindProblems, metadataProblem } from './text.ts';
import { entryText } from './timeline.ts';

/*
 * Validates requests and returns readable error messages. The server sends them in its responses;
 * the CLI's `--dry-run` prints them without contacting a server.
 */

/** The maximum number of reported fields, so that an invalid body cannot cause a huge response. */
const maxErrors = 20;
/** The maximum length of a path, because the client's field names can have any length. */
const maxPathLength = 200;

/** Returns the invalid fields of a value; an empty list if the value is valid. */
export type Validator = (value: unknown) => FieldError[];

/** Compiles a schema. This is expensive, so call it only once, when a module loads. */
export function validator(schema: TSchema): Validator {
  const check = TypeCompiler.Compile(schema);
  return (value) => (check.Check(value) ? [] : describe(check, value));
}

/** Validators for the endpoints that accept one type of record. Their bodies have no `type`. */
export const validateSupport = recordValidator(SupportRequest, 'ticket');
export const validateDocument = recordValidator(DocumentRequest, 'document');
const validateConversation = recordValidator(ConversationRequest, 'conversation');
const validateMessages = validator(MessagesRequest);
export function validateChat(value: unknown): FieldError[] {
  if (!isMessagesRequest(value)) return validateConversation(value);
  const errors = validateMessages(value);
  if (errors.length > 0) return errors;
  return validateConversation(conversationOf(value)).map(({ field, message }) => {
    return { field: field.replace(/^data\./, ''), message };
  });
}

const validateTyped = Object.fromEntries(
  Object.entries(recordSchemas).map(([type, schema]) => [type, recordValidator(schema)]),
) as Record<RecordType, Validator>;

const validateType = validator(
  Type.Object({ type: Type.Union(Object.keys(recordSchemas).map((type) => Type.Literal(type))) }),
);

/** Validates a record with its type: a body of `POST /v1/ingest` or an item of a batch. */
export function validateRecord(value: unknown): FieldError[] {
  const errors = validateType(value);
  return errors.length > 0 ? errors : validateTyped[(value as IngestRecord).type](value);
}

/** Validates a record against its schema, then against the rules that a schema cannot express. */
function recordValidator(schema: TSchema, type?: RecordType): Validator {
  const validate = validator(schema);
  return (value) => {
    const errors = validate(value);
    if (errors.length > 0) return errors;
    const record = (type === undefined ? value : { ...(value as object), type }) as IngestRecord;
    const ofData = [...emptyErrors(record), ...openDataErrors(record)];
    // Metadata derived from invalid data is invalid, too; report only the data.
    return ofData.length > 0 ? ofData.slice(0, maxErrors) : mergedErrors(record);
  };
}

/** A conversation must have a title, a summary, or a message with text or a tool call. */
function emptyErrors(record: IngestRecord): FieldError[] {
  if (record.type !== 'conversation') return [];
  const { title, summary, messages } = record.data;
  if (title || summary || messages.some((entry) => entryText(entry) !== '')) return [];
  return [{ field: 'data.messages', message: 'must contain text' }];
}

function openDataErrors(record: IngestRecord): FieldError[] {
  if (!hasOpenData(record)) return [];
  const message = metadataProblem(descriptiveFields(record));
  return message === null ? [] : [{ field: 'data', message }];
}

function hasOpenData({ type }: IngestRecord): boolean {
  return type === 'event' || type === 'profile';
}

function mergedErrors(record: IngestRecord): FieldError[] {
  // Everything except the caller's metadata has already been validated.
  if (hasOpenData(record) && record.metadata === undefined) return [];
  const message = metadataProblem(recordMetadata(record));
  if (message === null) return [];
  return [{ field: 'metadata', message: `${message}, including the descriptive fields of data` }];
}

function describe(check: TypeCheck<TSchema>, value: unknown): FieldError[] {
  const errors = new Map<string, FieldError>();
  for (const error of leaves(check.Errors(value))) {
    const field = dotted(error.path);
    // TypeBox reports a missing property twice: as missing, and as a value of the wrong type.
    if (!errors.has(field)) errors.set(field, { field, message: problem(error) });
    // Stop at an array with too many items, because validating them could take seconds.
    if (errors.size === maxErrors || error.type === ValueErrorType.ArrayMaxItems) break;
  }
  return [...errors.values()];
}

/**
 * Yields the innermost errors. For a nullable schema, yields only the errors of the alternative
 * that is not null; for any other union, yields only those of the alternative that has the value's
 * type. For a list, yields only the errors of the first invalid item.
 */
function* leaves(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    if (error.schema[Kind] === 'List' && Array.isArray(error.value)) {
      yield* leaves(firstItemErrors(error));
      continue;
    }
    const { anyOf = [] } = error.schema;
    const at = alternativeFor(error.value, anyOf);
    const chosen = error.type === ValueErrorType.Union ? error.errors[at] : undefined;
    if (chosen === undefined || isEnum(error.schema)) yield error;
    else yield* leaves(chosen);
  }
}

function isEnum({ anyOf }: TSchema): boolean {
  return anyOf.every((one: TSchema) => 'const' in one);
}

function alternativeFor(value: unknown, anyOf: TSchema[]): number {
  const nonNull = anyOf.filter(({ type }) => type !== 'null');
  // For a nullable time, "must be an RFC 3339 time" is clearer than "must be a string or null".
  const isNullable = anyOf.length === 2 && nonNull.length === 1;
  return anyOf.findIndex((one) => (isNullable ? one === nonNull[0] : one.type === jsonType(value)));
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
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
    case ValueErrorType.ObjectMinProperties:
      return `must have at least one of ${Object.keys(schema.properties).join(', ')}`;
    case ValueErrorType.ArrayMinItems:
    case ValueErrorType.StringMinLength:
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
      return isEnum(schema)
        ? `must be one of ${schema.anyOf.map((one: TSchema) => one.const).join(', ')}`
        : `must be ${anyTyped(schema.anyOf)}`;
    case ValueErrorType.StringPattern:
      return 'must be mem_ followed by 1 to 64 letters, digits, underscores or hyphens';
    default:
      return kindProblems[schema[Kind]]?.(value, schema) ?? `must be ${typed(schema)}`;
  }
}

function anyTyped(schemas: TSchema[]): string {
  return schemas
    .map(typed)
    .join(', ')
    .replace(/, ([^,]+)$/, ' or $1');
}

function typed({ type }: TSchema): string {
  if (type === 'null') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
