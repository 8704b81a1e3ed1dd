/*
 * The times in requests. Unlike the schemas, this module does not load TypeBox, so that the threads
 * of the service start faster.
 */

/**
 * RFC 3339 has only four-digit years. A time with an offset can be outside this range when it is
 * converted to UTC.
 */
export const firstMs = Date.parse('0000-01-01T00:00:00.000Z');
export const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

export function isRepresentable(ms: number): boolean {
  return ms >= firstMs && ms <= lastMs;
}

/**
 * Converts a valid `PointInTime` to milliseconds since 1970. Fractions of a millisecond are
 * dropped.
 */
export function pointInTimeMs(text: string): number {
  const upper = text.toUpperCase();
  if (upper.slice(17, 19) !== '60') return Date.parse(upper);
  // Date.parse does not support leap seconds, so they are converted to the following second.
  return Date.parse(`${upper.slice(0, 17)}59${upper.slice(19)}`) + 1_000;
}

/** Like `pointInTimeMs`, but returns null if the time is omitted: undefined, null or empty. */
export function optionalTimeMs(text: string | null | undefined): number | null {
  return text ? pointInTimeMs(text) : null;
}

/** The colon in an offset is optional: Python's `%z` and generated Python clients omit it. */
const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

export function isRfc3339(text: string): boolean {
  const parts = rfc3339.exec(text);
  if (parts === null) return false;
  const [hour = 0, minute = 0, second = 0] = parts.slice(4).map(Number);
  return isDate(text.slice(0, 10)) && hour <= 23 && minute <= 59 && second <= 60;
}

/** Whether the text is YYYY-MM-DD and the day exists. */
export function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  // The calendar repeats every 400 years, and Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const daysInMonth = new Date(Date.UTC(year + 400, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth;
}
