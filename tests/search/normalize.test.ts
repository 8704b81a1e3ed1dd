import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { normalize, normalizeWords } from '../../server/search/normalize.ts';
import { parseQuery } from '../../server/search/query.ts';
import { isUnspaced } from '../../server/search/scripts.ts';
import { stem } from '../../server/search/stem.ts';
import { isTypo, unitsOf } from '../../server/search/typo.ts';
import { anyCodePoint } from '../support/inputs.ts';
import { isReferenceTypo } from './reference-typo.ts';

const anyText = fc.string({ unit: anyCodePoint, maxLength: 300 });

describe('normalize', () => {
  test.each([
    ['Ana: I’d love a Café,\nERR-4711!', 'ana: i love a cafe\nerr 4711'],
    // One character, which NFKD decomposes into an apostrophe and a letter.
    ['ŉ', 'n'],
    ["We don't own Ben's boat", 'we dont own ben boat'],
    ['1,234,567 and 3.14', '1234567 and 3 14'],
    ['[8 May, 13:56] Ana: hello', 'ana: hello 8 may 13 56'],
    ['[2019-05-08T13:56:07Z] Ana: hello', 'ana: hello 2019 05 08t13 56 07z'],
    ['[2019-05-08T13:56:07.250Z] Ana Bo: hi', 'ana bo: hi 2019 05 08t13 56 07 250z'],
    ['Customer Service Representative: hi', 'customer service representative: hi'],
    ['It came to this, as everybody knew: nothing', 'it came to this as everybody knew nothing'],
    ['\n\n  \n', ''],
    ['Ana: …', 'ana:'],
    ['İSTANBUL Straße Łódź Ærø', 'istanbul strasse lodz aero'],
    ['ｶﾞ ①②', 'ガ 12'],
    ['iPhone手机很好', 'iphone 手机很好'],
    ['fine🚀👍🏽', 'fine 🚀 👍'],
    ['Một người bạn ở São Paulo', 'một người bạn ở sao paulo'],
    ['Ο αδελφός ЁЛКА بَيْت', 'ο αδελφοσ елка بيت'],
  ])('%j becomes %j', (text, normalized) => expect(normalize(text)).toBe(normalized));

  test('expands characters that represent words, except in text that has no other characters', () => {
    expect(normalize('Muhammad ﷺ said: 5 ㎏')).toBe('muhammad صلي الله عليه وسلم said 5 kg');
    expect(normalize('ﷺ'.repeat(10)).split(' ')).toHaveLength(31);
    const text = 'ﷺ'.repeat(1_000);
    expect(normalize(text).length).toBeLessThanOrEqual(text.length);
    const korean = '한국어 문장입니다. '.repeat(80);
    expect(normalize(korean)).toBe(normalizeWords(korean));
  });

  test('separates the characters of scripts written without spaces, and no other characters', () => {
    const emoji = /\p{Extended_Pictographic}/u;
    const differing: string[] = [];
    for (let unit = 0x80; unit <= 0xffff; unit += 1) {
      const letter = String.fromCharCode(unit);
      if (normalizeWords(letter) !== letter || emoji.test(letter)) continue;
      const isSeparated = normalizeWords(`x${letter}x`) === `x ${letter} x`;
      if (isSeparated !== isUnspaced(unit)) differing.push(unit.toString(16));
    }
    expect(differing).toEqual([]);
  });

  test("labels text with its author unless the text begins with the author's name", () => {
    expect(normalize('I moved.', { author: 'Ana' })).toBe('ana: i moved');
    expect(normalize('Ana: I moved.', { author: 'Ana' })).toBe('ana: i moved');
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) =>
        expect(normalizeWords(normalizeWords(text))).toBe(normalizeWords(text)),
      ),
    );
  });

  test('normalizes ASCII text like any other text', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
      fc.constantFrom("'s", "n't", "'LL", "N'T", ',000', ',12', '9', 'A1', 'Z', "'", ',', ' '),
    );
    const english = fc.string({ unit, maxLength: 300 });
    fc.assert(
      fc.property(english, (text) => {
        expect(normalizeWords(`${text} é`)).toBe(`${normalizeWords(text)} e`.trim());
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([1_000, 3_000, 200_000])('normalizes a line of %d words', (count) => {
    expect(normalizeWords('Word, '.repeat(count))).toBe('word '.repeat(count).trim());
  });

  test('does not depend on how accents are composed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(normalize(text.normalize('NFD'))).toBe(normalize(text.normalize('NFC')));
      }),
    );
  });

  test('keeps one space between words, and a colon only after a label', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const line of normalize(text).split('\n')) expect(line).toMatch(/^[^:]*(: ?[^:]*)?$/);
        expect(normalize(text)).not.toMatch(/ {2}|^\s|\s$/);
      }),
    );
  });
});

/** Stems computed by Snowball's English stemmer. */
const stems: Record<string, string> = {
  plurals:
    'caresses:caress weaknesses:weak ponies:poni ties:tie cries:cri gas:gas gaps:gap this:this kiwis:kiwi ' +
    'dress:dress status:status hikes:hike',
  participles:
    'agreed:agre feed:feed agreedly:agre hopping:hop hoped:hope hoping:hope hiked:hike ' +
    'plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat ' +
    'troubled:troubl sized:size fizzed:fizz failing:fail filed:file tanned:tan ' +
    'falling:fall hissing:hiss dating:date enabling:enabl unexpectedly:unexpect ' +
    'seemingly:seem activated:activ animating:anim operating:oper modernized:modern dying:die lying:lie tying:tie',
  'a final y': 'happy:happi cry:cri say:say by:by toys:toy enjoy:enjoy youth:youth',
  'derivational suffixes, first step':
    'relational:relat conditional:condit valency:valenc hesitancy:hesit digitizer:digit ' +
    'conformably:conform radically:radic differently:differ vilely:vile ' +
    'analogously:analog vietnamization:vietnam predication:predic operator:oper ' +
    'feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous ' +
    'formality:formal sensitivity:sensit sensibility:sensibl hopefully:hope ' +
    'endlessly:endless psychology:psycholog geology:geolog apology:apolog',
  'derivational suffixes, second step':
    'triplicate:triplic formative:format formalize:formal electricity:electr ' +
    'electrical:electr hopeful:hope goodness:good national:nation',
  'endings of long words':
    'revival:reviv allowance:allow inference:infer airliner:airlin gyroscopic:gyroscop ' +
    'adjustable:adjust defensible:defens irritant:irrit replacement:replac ' +
    'adjustment:adjust dependent:depend adoption:adopt homologous:homolog ' +
    'communism:communism activate:activ angularity:angular effective:effect ' +
    'bowdlerize:bowdler version:version region:region',
  'a final e or l':
    'probate:probat rate:rate cease:ceas controll:control roll:roll travelling:travel ' +
    'rolled:roll',
  'prefixes that count as a syllable':
    'generate:generat generously:generous community:communiti communal:communal ' +
    'arsenal:arsenal general:general',
  'words with several endings':
    'hiking:hike running:run runs:run studies:studi studied:studi studying:studi study:studi ' +
    'happiness:happi nationality:nation paintings:paint painted:paint adopted:adopt ' +
    'conservative:conserv conserved:conserv exceeds:exceed ' +
    'exceeded:exceed exceeding:exceed technological:technolog technologies:technolog ' +
    'technology:technolog biologically:biolog biological:biolog biology:biolog',
  'words that differ from similar ones':
    'new:new sky:sky ski:ski inning:inning in:in bus:bus ear:ear sin:sin unit:unit ' +
    'universe:univers skies:sky',
  exceptions:
    'skies:sky skis:ski dying:die lying:lie tying:tie news:news exceed:exceed proceed:proceed',
  'endings after s or t': 'nation:nation notion:notion opinion:opinion',
  adverbs: 'quickly:quick friendly:friend kindly:kind',
};

describe('stem', () => {
  test.each(Object.entries(stems))('has the same results as Snowball for %s', (_, words) => {
    const pairs = words.split(' ').map((pair) => pair.split(':'));
    expect(pairs.map(([word = '']) => [word, stem(word)])).toEqual(pairs);
  });

  test('of some words is another, which tells them apart from shorter words', () => {
    expect(['early', 'weddings', 'wedding'].map(stem)).toEqual(['early', 'wedding', 'wedding']);
  });

  test.each([
    ['книги', 'книгу', 'книга'],
    ['người', 'nguoi'],
    ['ở', 'o'],
    ['كتاب', 'الكتاب', 'والكتاب', 'بالكتاب', 'كتابها'],
    ['مدرس', 'المدرسون', 'مدرسين', 'ومدرسات'],
  ])('maps %s, %s … to the same stem', (...forms) => {
    expect(new Set(forms.map((form) => stem(String(form)))).size).toBe(1);
  });

  test('never changes the first two letters, except of dying, lying and tying', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aeiouybcdlnrstgmz'), minLength: 2 });
    const suffixes = ' s ies ied eed ing edly ational li e'.split(' ');
    const suffix = fc.constantFrom(...suffixes);
    const words = fc.tuple(letters, suffix).map((parts) => parts.join(''));
    const regular = words.filter((word) => !/^[dlt]ying$/.test(word));
    fc.assert(
      fc.property(regular, (word) => {
        expect(stem(word).slice(0, 2)).toBe(word.slice(0, 2));
      }),
    );
  });
});

test('isTypo() agrees with an exhaustive list of edits', () => {
  // Other letters are around the word, because the dictionary stores words without separators.
  const isTypoOf = (typed: string, word: string) =>
    isTypo(unitsOf(typed), { units: unitsOf(`ab${word}ab`), start: 2, end: 2 + word.length });
  const short = fc.string({ unit: fc.constantFrom(...'abc'), maxLength: 8 });
  fc.assert(
    fc.property(short, short, (one, word) => {
      fc.pre(one.length >= 3);
      expect(isTypoOf(one, word)).toBe(isReferenceTypo(one, word));
    }),
    { numRuns: 2_000 },
  );
  for (const [typed, is] of [
    ['marethin', false],
    ['marethon', true],
    ['maratho', true],
  ] as const) {
    expect(isTypoOf(typed, 'marathon')).toBe(is);
  }
  expect([isTypoOf('cat', 'car'), isTypoOf('dgo', 'dog')]).toEqual([false, true]);
});

describe('parseQuery', () => {
  test.each([
    ['What did Ana do?', 'ana'],
    ['who is it', 'who is it'],
    ['"who is it"?', 'who is it'],
    ['a 5" disk of hers', '5 disk'],
    ['What is Ana up to.', 'ana'],
    ['Ana,what is it?', 'ana'],
    ['The to-do of Ana', 'to do ana'],
  ])('drops stop words, unless they are quoted, in a code or all there is: %j', (query, terms) => {
    expect(termsOf(query)).toEqual(terms.split(' '));
  });

  test('treats the last word as a prefix only if nothing follows it', () => {
    const prefixes = ['green te', 'green te?', 'green te '].map((one) => parseQuery(one).prefix);
    expect(prefixes).toEqual([1, -1, -1]);
  });

  test('treats a quoted word of a script without spaces as a phrase of its n-grams', () => {
    const phrases = (query: string) => parseQuery(query).pairs.map(({ isPhrase }) => isPhrase);
    expect(termsOf('"北京大学"')).toEqual(['北京', '京大', '大学']);
    expect(phrases('"北京大学"')).toEqual([true, true]);
    expect(phrases('北京大学')).toEqual([false, false]);
  });

  test('turns a query of up to 1,000 characters into at most 48 terms', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint, maxLength: 1_000 }), (query) => {
        expect(parseQuery(query).terms.length).toBeLessThanOrEqual(48);
      }),
    );
  });

  test('uses the first 48 distinct words of a long query', () => {
    const words = Array.from({ length: 60 }, (_, number) => `${1_000 + number}`);
    expect(termsOf(`${words[0]} ${words.join(' ')}`)).toEqual(words.slice(0, 48));
  });

  test.each(['blue "green tea"', 'lost order-4711?'])(
    'of %j pairs only the last as a phrase',
    (query) => {
      expect(parseQuery(query).pairs).toEqual([
        { left: 0, right: 1, isPhrase: false },
        { left: 1, right: 2, isPhrase: true },
      ]);
    },
  );
});

function termsOf(query: string): string[] {
  return parseQuery(query).terms.map((term) => term.text);
}
