import { expect, test } from 'bun:test';
import { sentence } from '../../sdk/contract/errors.ts';
import { PointInTime } from '../../sdk/contract/text.ts';
import { pointInTimeMs } from '../../sdk/contract/times.ts';
import { validator } from '../../sdk/contract/validate.ts';

const validate = validator(PointInTime);
const sentencesOf = (value: unknown) => validate(value).map(sentence);

test.each([
  ['2026-05-08T13:56:07Z', '2026-05-08T13:56:07.000Z'],
  ['2026-05-08t13:56:07.5z', '2026-05-08T13:56:07.500Z'],
  ['2026-05-08T13:56:07.123987+02:00', '2026-05-08T11:56:07.123Z'],
  ['2026-05-08T13:56:07.000000+0530', '2026-05-08T08:26:07.000Z'],
  ['2026-05-08', '2026-05-08T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
])('%s is %s', (text, time) => {
  expect(sentencesOf(text)).toEqual([]);
  expect(new Date(pointInTimeMs(text)).toISOString()).toBe(time);
});

test.each<unknown>([
  ...[null, '', 1_795_000_000_000, 'yesterday', '2026-05', '2026-02-29', '2026-13-01'],
  ...['2026-00-01', '2026-01-00', '2026-01-01T00:60:00Z', '2026-05-08 ', '2026-05-08\n'],
  ...['2026-05-08T13:56:07', '2026-05-08T24:00:00Z', '2026-05-08T13:56:07+2400'],
  ...['2026-05-08T13:56:07+02', '0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'],
])('%j is rejected', (value) => {
  expect(sentencesOf(value)).toEqual(['must be an RFC 3339 time or a date (YYYY-MM-DD)']);
});

test.each(['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])('%s is accepted', (text) => {
  expect(sentencesOf(text)).toEqual([]);
  expect(pointInTimeMs(text)).toBe(Date.parse(text));
});
