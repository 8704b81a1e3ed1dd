/*
 * Finds the dates in a question, in English or in digits: "on 8 May 2023", "in May", "2023-05",
 * "5/8/2023", "two weeks ago", "last summer". All days are UTC days.
 */
import {
  type DayRange,
  dateOf,
  dayOf,
  daysFrom,
  lastSeason,
  lastWeekday,
  latestWeekend,
  likelyYears,
  monthNamed,
  monthsAgo,
  monthsFrom,
  seasonOf,
  thisSeason,
  thisWeekday,
  weekendsAgo,
  weeksAgo,
  yearOf,
  yearsAgo,
} from './calendar.ts';

const month =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|' +
  'sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const date = String.raw`(?<date>\d\d?)(?:st|nd|rd|th)?`;
const year = String.raw`(?<year>(?:19|20)\d\d)`;
const count =
  String.raw`(?<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|` +
  'a couple of|a few)';
const weekday = '(?<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)';
const season = '(?<season>spring|summer|autumn|fall|winter)';
/**
 * "May" and "March" are also other words, so a month alone follows one of these. "The birthday of
 * June" is about a person.
 */
const beforeMonth =
  '(?:in|during|since|until|till|from|around|early|mid|late|last|this|throughout|' +
  String.raw`(?<!\b(?:birthday|child|friends?|job|name|opinion|parents) )of)`;
/** The verb, as in "this may hurt" and "version 5 may break", but not in "on 5 may we met". */
const verbMay = new RegExp(
  String.raw`(?<=\b(?i:this|(?:item|number|option|page|step|version) \d+) )may` +
    String.raw`(?= (?:also|be|break|cause|fail|have|hurt|need|not)\b)`,
  'g',
);

type Part = 'month' | 'date' | 'year' | 'count' | 'weekday' | 'season';
type Parts = { [part in Part]?: string | undefined };
/** Returns the days of a match. `today` is the day of the question. */
type Reading = (parts: Parts, today: number) => DayRange[];

/** The rules, in order. Each reads the parts of a question that no earlier rule has read. */
const rules: [pattern: string, read: Reading][] = [
  [String.raw`${year}[-/](?<month>\d\d?)[-/](?<date>\d\d?)(?:T\S*)?`, readDate],
  // "2019-20" is no month, but two years.
  [`${year}-(?<month>0[1-9]|1[0-2])`, readMonth],
  [String.raw`(?<date>\d\d?)\.(?<month>\d\d?)\.${year}`, readDate],
  [String.raw`(?<date>\d\d?)(?<other>[/-])(?<month>\d\d?)\k<other>${year}`, readEitherOrder],
  [`${date}(?: of)? ${month}(?:,? ${year})?`, readDate],
  [`${month} ${date}(?:,? ${year})?`, readDate],
  [`${month},?(?: of)? ${year}`, readMonth],
  [`${beforeMonth}[ -]${month}`, readMonth],
  ['day before yesterday', (_, today) => daysFrom(today - 2, 1)],
  ['yesterday|last night', (_, today) => daysFrom(today - 1, 1)],
  ['today|tonight|this (?:morning|afternoon|evening)', (_, today) => daysFrom(today, 1)],
  ['week before last', (_, today) => weeksAgo(today, 2)],
  ['month before last', (_, today) => monthsAgo(today, 2)],
  [`${count} days? ago`, (parts, today) => daysFrom(today - countIn(parts), 1)],
  [`${count} weeks? ago`, (parts, today) => weeksAgo(today, countIn(parts))],
  [`${count} months? ago`, (parts, today) => monthsAgo(today, countIn(parts))],
  [`${count} years? ago`, (parts, today) => yearsAgo(today, countIn(parts))],
  [`(?:last|past) ${count} days`, (parts, today) => lastDays(today, countIn(parts))],
  [`(?:last|past) ${count} weeks`, (parts, today) => lastDays(today, 7 * countIn(parts))],
  [`(?:last|past) ${count} months`, (parts, today) => lastDays(today, 31 * countIn(parts))],
  ['(?:last|past) week', (_, today) => weeksAgo(today, 1)],
  ['this week', (_, today) => weeksAgo(today, 0)],
  ['(?:last|past) month', (_, today) => monthsAgo(today, 1)],
  ['this month', (_, today) => monthsAgo(today, 0)],
  ['(?:last|past) year', (_, today) => yearsAgo(today, 1)],
  ['this year', (_, today) => yearsAgo(today, 0)],
  ['last weekend', (_, today) => weekendsAgo(today, 1)],
  ['this weekend', (_, today) => weekendsAgo(today, 0)],
  ['(?:over the|at the|on the) weekend', (_, today) => latestWeekend(today)],
  [`(?:last|on|since) ${weekday}`, ({ weekday: name = '' }, today) => lastWeekday(today, name)],
  [`this ${weekday}`, ({ weekday: name = '' }, today) => thisWeekday(today, name)],
  [`${season}(?: of)? ${year}`, ({ season: name = '', year: of }) => seasonOf(Number(of), name)],
  [`last ${season}`, ({ season: name = '' }, today) => lastSeason(today, name)],
  [
    `(?:this|in|during)(?: the)? ${season}`,
    ({ season: name = '' }, today) => thisSeason(today, name),
  ],
  [`(?:in|during|of) ${year}`, ({ year: of }) => yearOf(Number(of))],
];
const compiled = rules.map(([pattern, read]) => {
  return { pattern: new RegExp(String.raw`(?<![\w-])(?:${pattern})(?![\w-])`, 'gi'), read };
});

/**
 * Returns the days that a question is about, which are none if it has no date, and the rest of its
 * text. `nowMs` is the time of the question.
 */
export function datesIn(question: string, nowMs: number): { dates: DayRange[]; rest: string } {
  const dates: DayRange[] = [];
  let rest = question.replace(/\s+/g, ' ').replace(verbMay, '|');
  for (const { pattern, read } of compiled) {
    rest = rest.replace(pattern, (...match) => {
      dates.push(...read(match.at(-1), dayOf(nowMs)));
      return '|';
    });
  }
  return { dates, rest };
}

function readDate(parts: Parts, today: number): DayRange[] {
  return yearsIn(parts, today).flatMap((of) => dateOf(of, monthIn(parts), Number(parts.date)));
}

function readMonth(parts: Parts, today: number): DayRange[] {
  return yearsIn(parts, today).flatMap((of) => monthsFrom(of, monthIn(parts), 1));
}

/** "5/8/2023" is a day in May or in August. */
function readEitherOrder(parts: Parts, today: number): DayRange[] {
  const swapped = { ...parts, month: parts.date, date: parts.month };
  return [...readDate(parts, today), ...readDate(swapped, today)];
}

function yearsIn({ year: of }: Parts, today: number): number[] {
  return of === undefined ? likelyYears(today) : [Number(of)];
}

function monthIn({ month: name = '' }: Parts): number {
  return /^\d/.test(name) ? Number(name) - 1 : monthNamed(name);
}

const numberNames = 'zero one two three four five six seven eight nine ten eleven twelve';

function countIn({ count: name = '' }: Parts): number {
  if (/^an?$/i.test(name)) return 1;
  if (/^a couple/i.test(name)) return 2;
  if (/^a few/i.test(name)) return 3;
  return /^\d/.test(name) ? Number(name) : numberNames.split(' ').indexOf(name.toLowerCase());
}

function lastDays(today: number, count: number): DayRange[] {
  return daysFrom(today - count, count + 1);
}
