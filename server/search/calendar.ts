/** Consecutive days, both inclusive. A day is the number of UTC days since 1970. */
export type DayRange = { first: number; last: number };

const dayMs = 86_400_000;
const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdayNames = 'sun mon tue wed thu fri sat'.split(' ');
/** The first month of each season in the northern hemisphere. */
const seasonStarts = new Map(
  Object.entries({ spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 }),
);
/** A date without a year is in one of these years, relative to the current year. */
const [earliestYear, latestYear] = [-30, 1];

export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** Returns the days from `first` on, as many as `count`. */
export function daysFrom(first: number, count: number): DayRange[] {
  return [{ first, last: first + count - 1 }];
}

export function yearOf(year: number): DayRange[] {
  return monthsFrom(year, 0, 12);
}

/** Returns consecutive months. A month after December is in the next year, and so on. */
export function monthsFrom(year: number, month: number, count: number): DayRange[] {
  const first = dayOf(Date.UTC(year, month));
  return [{ first, last: dayOf(Date.UTC(year, month + count)) - 1 }];
}

/** Returns the day, or nothing if the month does not have it. */
export function dateOf(year: number, month: number, date: number): DayRange[] {
  const at = new Date(Date.UTC(year, month, date));
  return at.getUTCMonth() === month && date > 0 ? daysFrom(dayOf(at.getTime()), 1) : [];
}

/** Returns the month or year that was `count` months or years before the day. */
export function monthsAgo(today: number, count: number): DayRange[] {
  const now = new Date(today * dayMs);
  return monthsFrom(now.getUTCFullYear(), now.getUTCMonth() - count, 1);
}

export function yearsAgo(today: number, count: number): DayRange[] {
  return yearOf(currentYear(today) - count);
}

/** Returns the week, from Monday, that was `count` weeks before the day. */
export function weeksAgo(today: number, count: number): DayRange[] {
  return daysFrom(today - sinceWeekday(today, 1) - 7 * count, 7);
}

/** Returns the last day with this name before the day. */
export function lastWeekday(today: number, name: string): DayRange[] {
  return daysFrom(today - 1 - sinceWeekday(today - 1, weekdayNamed(name)), 1);
}

/** Returns the day with this name in the week of the day. If it is over, adds the next one. */
export function thisWeekday(today: number, name: string): DayRange[] {
  const sunday = today + 6 - sinceWeekday(today, 1);
  const first = sunday - sinceWeekday(sunday, weekdayNamed(name));
  return [...daysFrom(first, 1), ...(first < today ? daysFrom(first + 7, 1) : [])];
}

/** Returns the last weekend that has begun by the day. */
export function latestWeekend(today: number): DayRange[] {
  return daysFrom(today - sinceWeekday(today, 6), 2);
}

/** Returns the weekend of the week that was `count` weeks before the day. */
export function weekendsAgo(today: number, count: number): DayRange[] {
  return weeksAgo(today, count).map(({ last }) => ({ first: last - 1, last }));
}

/** Returns the number of days since the last such weekday; 0 if the day is one. */
function sinceWeekday(day: number, weekday: number): number {
  // 1 January 1970 was a Thursday.
  return (((day + 4 - weekday) % 7) + 7) % 7;
}

/** Returns the season that begins in the year. */
export function seasonOf(year: number, name: string): DayRange[] {
  return monthsFrom(year, seasonStarts.get(name.toLowerCase()) ?? 0, 3);
}

/** Returns the latest such season that is over. */
export function lastSeason(today: number, name: string): DayRange[] {
  const over = seasonsNear(today, name).filter(({ last }) => last < today);
  return over.slice(-1);
}

/** Returns such a season that includes the day, or else the last and the next one. */
export function thisSeason(today: number, name: string): DayRange[] {
  const [next] = seasonsNear(today, name).filter(({ last }) => last >= today);
  if (next === undefined) return [];
  return next.first <= today ? [next] : [...lastSeason(today, name), next];
}

function seasonsNear(today: number, name: string): DayRange[] {
  return [-2, -1, 0, 1].flatMap((offset) => seasonOf(currentYear(today) + offset, name));
}

/** Returns the years in which a date without a year may be. */
export function likelyYears(today: number): number[] {
  const from = currentYear(today) + earliestYear;
  return Array.from({ length: latestYear - earliestYear + 1 }, (_, index) => from + index);
}

export function monthNamed(name: string): number {
  return monthNames.indexOf(name.slice(0, 3).toLowerCase());
}

function weekdayNamed(name: string): number {
  return weekdayNames.indexOf(name.slice(0, 3).toLowerCase());
}

function currentYear(today: number): number {
  return new Date(today * dayMs).getUTCFullYear();
}
