import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexedChunks } from '../../server/memory/chunks.ts';
import { datesIn } from '../../server/search/dates.ts';
import { SearchIndex } from '../../server/search/index.ts';
import { parseQuery } from '../../server/search/query.ts';

/** A Wednesday. */
const now = Date.parse('2023-10-04T12:00Z');
const dayMs = 86_400_000;

/** Returns the ranges, as `2023-05-08` or `2023-05-01..2023-05-31`. */
function dates(question: string, nowMs = now): string[] {
  return datesIn(question, nowMs).dates.map(({ first, last }) => {
    const [from, to] = [first, last].map(dateOf);
    return from === to ? `${from}` : `${from}..${to}`;
  });
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

describe('a date in a question', () => {
  test.each([
    ['What happened on 8 May 2023?', '2023-05-08'],
    ['What happened on the 8th of May, 2023?', '2023-05-08'],
    ['May 8th, 2023: what did she say', '2023-05-08'],
    ['what about Sept 21 2022', '2022-09-21'],
    ['2023-05-08', '2023-05-08'],
    ['since 2023-05-08T10:00:00Z?', '2023-05-08'],
    ['2023/5/8', '2023-05-08'],
    ['17.07.2023', '2023-07-17'],
    ['5/15/2023', '2023-05-15'],
    ['15/5/2023', '2023-05-15'],
    ['12-25-2023', '2023-12-25'],
    ['5.8.2023', '2023-08-05'],
    ['2023-05', '2023-05-01..2023-05-31'],
    ['in May 2023', '2023-05-01..2023-05-31'],
    ['February of 2024', '2024-02-01..2024-02-29'],
    ['in 2022', '2022-01-01..2022-12-31'],
    ['today', '2023-10-04'],
    ['last night', '2023-10-03'],
    ['the day before yesterday', '2023-10-02'],
    ['a couple of days ago', '2023-10-02'],
    ['ten days ago', '2023-09-24'],
    ['this week', '2023-10-02..2023-10-08'],
    ['Last week', '2023-09-25..2023-10-01'],
    ['the week before last', '2023-09-18..2023-09-24'],
    ['3 weeks ago', '2023-09-11..2023-09-17'],
    ['this month', '2023-10-01..2023-10-31'],
    ['last month', '2023-09-01..2023-09-30'],
    ['twelve months ago', '2022-10-01..2022-10-31'],
    ['last year', '2022-01-01..2022-12-31'],
    ['a year ago', '2022-01-01..2022-12-31'],
    ['in the last 10 days', '2023-09-24..2023-10-04'],
    ['the past two weeks', '2023-09-20..2023-10-04'],
    ['on Monday', '2023-10-02'],
    ['last Wednesday', '2023-09-27'],
    ['this Wednesday', '2023-10-04'],
    ['what are we doing this Friday?', '2023-10-06'],
    ['what is happening this weekend?', '2023-10-07..2023-10-08'],
    ['last weekend', '2023-09-30..2023-10-01'],
    ['over the weekend', '2023-09-30..2023-10-01'],
    ['last summer', '2023-06-01..2023-08-31'],
    ['last winter', '2022-12-01..2023-02-28'],
    ['in the fall of 2022', '2022-09-01..2022-11-30'],
  ])('%j is %s', (question, found) => expect(dates(question)).toEqual([found]));
});

describe('a date', () => {
  test.each([
    ['2023-10-07', 'last weekend', '2023-09-30..2023-10-01'],
    ['2023-10-08', 'last weekend', '2023-09-30..2023-10-01'],
    ['2023-10-08', 'this weekend', '2023-10-07..2023-10-08'],
    ['2023-10-07', 'over the weekend', '2023-10-07..2023-10-08'],
    ['2023-08-15', 'this summer', '2023-06-01..2023-08-31'],
    ['2023-08-15', 'last summer', '2022-06-01..2022-08-31'],
    ['2023-01-15', 'last winter', '2021-12-01..2022-02-28'],
    ['2023-08-31', 'last summer', '2022-06-01..2022-08-31'],
    ['2023-09-01', 'last summer', '2023-06-01..2023-08-31'],
    ['2023-06-01', 'this summer', '2023-06-01..2023-08-31'],
    ['2023-08-31', 'during the summer', '2023-06-01..2023-08-31'],
    ['2023-01-15', 'this winter', '2022-12-01..2023-02-28'],
  ])('depends on the day: on %s, %j is %s', (day, question, found) => {
    expect(dates(question, Date.parse(day))).toEqual([found]);
  });

  test.each([
    ['2023-10-07', 'this Friday', ['2023-10-06', '2023-10-13']],
    ['2023-10-04', 'this Monday', ['2023-10-02', '2023-10-09']],
    ['2023-05-04', 'this summer', ['2022-06-01..2022-08-31', '2023-06-01..2023-08-31']],
    ['2023-09-01', 'this summer', ['2023-06-01..2023-08-31', '2024-06-01..2024-08-31']],
    ['2024-02-20', 'this spring', ['2023-03-01..2023-05-31', '2024-03-01..2024-05-31']],
  ])('is past or coming on another day or in another season: on %s, %j', (day, question, found) => {
    expect(dates(question, Date.parse(day))).toEqual(found);
  });

  test('may be in either order, or in any year', () => {
    expect(dates('5/8/2023')).toEqual(['2023-08-05', '2023-05-08']);
    expect(dates('05-08-2023')).toEqual(['2023-08-05', '2023-05-08']);
    expect(dates('on 8 May')).toContain('1998-05-08');
    expect(dates('3 may last year')).toContain('2022-05-03');
    expect(dates('in the last week of April')).toContain('2023-04-01..2023-04-30');
    expect(dates('in May')).toContain('2024-05-01..2024-05-31');
    expect(dates('on 29 February')).toEqual(
      ['1996', '2000', '2004', '2008', '2012', '2016', '2020', '2024'].map((y) => `${y}-02-29`),
    );
    expect(dates('from 3 March 2023 until May 2023')).toEqual([
      '2023-03-03',
      '2023-05-01..2023-05-31',
    ]);
  });

  test.each([
    ...['may I march on?', 'why this may hurt', 'This may be late.'],
    ...['which version 5 may break?', 'Step 3 may not be needed', 'the birthday of June'],
    ...['the opinion of Jan', 'Friends of April', 'What did April say?', 'call 408-247-8880'],
    ...['ERR-2023-05', 'v2.4.2023', '31.2.2023', 'order 20230508', 'the 2019-20 season'],
    ...['tax year 2024-25', 'a hotel for 5-8/2023', '2023-00', 'a fall on the stairs'],
  ])('is not in %j', (question) => expect(dates(question)).toEqual([]));

  test('is a range, whatever the text is', () => {
    const part = fc.constantFrom('may', '8', 'last ', ' ', '2023', '-', '/', 'two weeks ago', '١');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 300 }), (parts) => {
        for (const { first, last } of datesIn(parts.join(''), now).dates)
          expect(last - first).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('a date without a year', () => {
  test.each([
    ...['on 5 may we met', 'what was on 5 may?', '5 may of any year'],
    ...['was it 5 May when we met?', 'the meeting of May 5', 'this may', 'this may in Rome'],
    ...['this May we met', 'since 5 may we have eaten what', 'before 12 may what did I say'],
    ...['on 5 may not on the 6th', 'the 5 may appointment', 'this may we went where'],
    ...['which version 5 May break?', 'in May', 'since April', 'at the end of June'],
    ...['from June to July', 'the letters of January', 'the letters of July'],
    ...['the invoices of April', 'the first week of June', 'the second half of May'],
    ...['the rest of June', 'the birthdays of June', 'photos from June', 'a letter from April'],
    ...['from April onwards', 'from April and May', 'from May - June'],
    ...['from June through August'],
  ])('is in any year: %j', (question) => expect(dates(question)).toHaveLength(32));
});

describe('a question with a date', () => {
  const line = (time: string, text: string) => `[${time}T18:10:00Z] Ana: ${text}`;
  const visit = 'The dentist was kind.';
  const padding = 'We talked about the weather. '.repeat(30);

  test.each([
    ['the time of a memory', ['2023-05-08', visit], 'on 8 May 2023'],
    ['a day near it', ['2023-05-11', visit], 'on 8 May 2023'],
    ['a day near it, before', ['2023-05-05', visit], 'on 8 May 2023'],
    ['a relative date', ['2023-09-27', visit], 'last week'],
    ['a time before 1970', ['1969-05-08', visit], 'on 8 May 1969'],
  ])('prefers %s', (_, [time = '', text = ''], date) => {
    const others = ['2023-02-01', '2023-06-20', '1971-05-08'].map((at) => [at, visit] as const);
    const memories: Dated[] = [[time, text], ...others, [null, visit]];
    expect(search(memories, `What about the dentist ${date}?`)[0]?.id).toBe('0');
  });

  test("prefers the part of a conversation with that time to the memory's own time", () => {
    const days = ['2023-02-01', '2023-06-20', '2023-05-08'];
    const talk = days.map((day) => line(day, `${visit} ${padding}`)).join('\n');
    const [found] = search([['2023-06-20', talk]], 'What about the dentist on 8 May 2023?');
    expect(talk.slice(found?.start).startsWith('[2023-05-08')).toBe(true);
  });

  test('still finds memories more than three days away, and says what the date adds', () => {
    const at = (...times: string[]) => times.map((time) => [time, visit] as const);
    const [near, far] = search(at('2023-09-27', '2021-01-01'), 'the dentist last week');
    expect(near?.parts.date).toBeCloseTo(2 * (near?.parts.words ?? 0));
    expect(far?.parts.date).toBe(0);
    const others = search(at('2023-05-12', '2023-05-04'), 'the dentist on 8 May 2023');
    expect(others.map(({ parts }) => parts.date)).toEqual([0, 0]);
  });
});

describe('a date alone', () => {
  const memories: Dated[] = [
    ['2023-09-24T23:59:59Z', 'Rain.'],
    ['2023-09-25T00:00:00Z', 'Monday was long.'],
    ['2023-10-01T23:59:59Z', 'Sunday was short.'],
    ['2023-10-02T00:00:00Z', 'Snow.'],
    [null, 'At no time.'],
  ];

  test.each([
    ...['last week', 'Last week?', 'What happened last week?', 'what did we do last week'],
    ...['what did we talk about last week?', 'Which topics did I discuss with you last week?'],
    ...['what did you suggest last week', 'what was our conversation last week about?'],
    'on 2023-09-25, or on 2023-10-01',
  ])('%j finds the memories of these days, newest first', (question) => {
    expect(search(memories, question).map(({ id }) => id)).toEqual(['2', '1']);
  });

  test('is the date part of their scores', () => {
    const [found] = search(memories, 'last week');
    expect(found?.parts).toEqual({ words: 0, phrase: 0, meaning: 0, date: found?.score ?? 0 });
  });

  test('ranks memories with its words first', () => {
    const named = ['2021-01-01', 'The party is on 25 September 2023.'] as const;
    const found = search([named, ...memories], '25 September 2023');
    expect(found.map(({ id }) => id)).toEqual(['0', '2']);
  });

  test.each(['yesterday', 'week'])('%j finds nothing', (question) => {
    expect(search([...memories, ['2023-09-26', 'x']], question)).toEqual([]);
  });
});

describe('a date beside words', () => {
  const memories: Dated[] = [
    ['2023-09-24', 'Rain.'],
    ['2023-09-26', 'Fixed the roof.'],
    ['2023-09-28', 'A zeppelin above the roof.'],
    ['2023-09-29', 'Snow.'],
    ['2021-01-01', 'Zeppelin, a band.'],
  ];

  test.each([
    ['the zeppelin last week', ['2', '4', '3', '1']],
    ['the yacht last week', ['3', '2', '1']],
    ['the yacht in 2023', []],
  ])('also finds the memories of up to a month: %j', (question, ids) => {
    expect(search(memories, question).map(({ id }) => id)).toEqual(ids);
  });
});

type Dated = readonly [time: string | null, content: string];

function search(memories: readonly Dated[], question: string) {
  const index = new SearchIndex();
  for (const [at, [time, content]] of memories.entries()) {
    const occurredAt = time === null ? null : Date.parse(time);
    const chunks = indexedChunks(content, '{}', occurredAt);
    index.put({ id: `${at}`, createdAt: at, chunks });
  }
  return [...index.search(parseQuery(question, now))];
}
