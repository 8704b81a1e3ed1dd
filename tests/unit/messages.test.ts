import { expect, test } from 'bun:test';
import { ServiceError } from '../../server/errors.ts';
import { packError, unpackError } from '../../server/threads/messages.ts';

const sent = (error: unknown) => unpackError(JSON.parse(JSON.stringify(packError(error))));

test('an error keeps its message, stack and cause on its way to another thread', () => {
  const error = new Error('it failed', { cause: new Error('the disk is full') });
  const received = sent(error);
  expect(received).not.toBeInstanceOf(ServiceError);
  expect([received.message, received.stack]).toEqual([error.message, error.stack]);
  expect(received.cause).toMatchObject({ message: 'the disk is full' });
});

test('a ServiceError also keeps its code, details and delay', () => {
  const fields = { details: [{ field: 'content', message: 'is too long' }], retryAfterSeconds: 7 };
  const received = sent(new ServiceError('unavailable', 'try again', fields));
  expect(received).toBeInstanceOf(ServiceError);
  expect(received).toMatchObject({ code: 'unavailable', message: 'try again', ...fields });
});

test('a thrown value that is not an error is described by its type', () => {
  expect(sent('a secret').message).toBe('a value of type string was thrown');
});
