import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ServiceError } from '../../server/errors.ts';
import { attachLarge, detachLarge, packError, unpackError } from '../../server/threads/messages.ts';

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

test('values arrive as they were sent, also if parts are long texts', () => {
  const part = fc.oneof(
    fc.string(),
    fc.nat({ max: 600 }).map((length) => 'é'.repeat(length)),
  );
  const value = fc.jsonValue({ maxDepth: 3 });
  const field = fc.oneof(value, part, fc.array(part), fc.array(fc.record({ text: part, value })));
  const fields = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), field);
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fields)), (values) => {
      const asSent = JSON.stringify(values);
      const texts: string[] = [];
      const detached = values.map((value) => detachLarge(value, texts));
      const message: typeof detached = JSON.parse(JSON.stringify(detached));
      const received = message.map(({ rest, large }) => attachLarge(rest, large, texts));
      expect(JSON.stringify(received)).toBe(asSent);
      expect(texts).toEqual([]);
      expect(JSON.stringify(values)).toBe(asSent);
    }),
  );
});
