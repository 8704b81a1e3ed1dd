/**
 * Stems English words with the Porter2 algorithm: "hiking", "hikes" and "hiked" have the same stem.
 * For Russian and Arabic, only the most common affixes are removed.
 */
import { withoutAccents } from './normalize.ts';

/** The accented letters of Vietnamese words, which keep their accents in normalization. */
const accented = /[\u00c0-\u01b0\u1ea0-\u1ef9]/;
const vowel = /[aeiouy]/;
const double = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
const shortEnd = /(?:^[aeiouy][^aeiouy]|[^aeiouy][aeiouy][^aeiouywxY])$/;

/** Suffixes and their replacements. In each table, the longest matching suffix is replaced once. */
const derivations: [string, string][] = table(
  'ization ize,ational ate,fulness ful,ousness ous,iveness ive,tional tion,biliti ble,lessli less,' +
    'entli ent,ation ate,alism al,aliti al,ousli ous,iviti ive,fulli ful,enci ence,anci ance,' +
    'abli able,izer ize,ator ate,alli al,bli ble,ogi og',
);
const moreDerivations: [string, string][] = table(
  'ational ate,tional tion,alize al,icate ic,iciti ic,ical ic,ful ,ness ',
);
const endings =
  /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|(?<=[st])ion)$/;

const cyrillicEnding =
  /(?<=[а-я]{3})(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ешь|ить|ать|ять|еть|ла|ло|ли|ый|ий|ой|ая|яя|ое|ее|ые|ие|ую|юю|ов|ев|ей|ам|ям|ах|ях|ом|ем|ил|ал|[аеиоуыьюяй])$/;

/** Words that only look inflected: the exceptions of Porter2 and a few more. */
const uninflected: ReadonlySet<string> = new Set(
  (
    'news evening wedding morning inning outing canning herring earring proceed exceed succeed ' +
    'atlas cosmos bias andes early only ugly'
  ).split(' '),
);
const irregular = new Map(
  Object.entries({
    skies: 'sky',
    skis: 'ski',
    sky: 'sky',
    dying: 'die',
    lying: 'lie',
    tying: 'tie',
  }),
);

/** Longer tokens are hashes and encoded data, not inflected words. */
const maxStemmedLength = 64;

export function stem(word: string): string {
  const bare = accented.test(word) ? withoutAccents(word) : word;
  if (bare !== word) return stem(bare);
  if (word.length < 3 || word.length > maxStemmedLength || uninflected.has(word)) return word;
  const known = irregular.get(word);
  if (known !== undefined) return known;
  if (arabic.test(word)) return stemArabic(word);
  if (!/^[a-z]+$/.test(word)) return word.replace(cyrillicEnding, '');
  const singular = plural(word.replace(/^y|(?<=[aeiou])y/g, 'Y'));
  if (uninflected.has(singular)) return singular;
  return silentE(suffixes(finalY(participle(singular)))).replaceAll('Y', 'y');
}

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (word.endsWith('ied') || word.endsWith('ies')) {
    return word.slice(0, word.length > 4 ? -2 : -1);
  }
  if (/(?:us|ss)$/.test(word)) return word;
  return word.endsWith('s') && vowel.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function participle(word: string): string {
  if (/eed(?:ly)?$/.test(word)) {
    const cut = word.lastIndexOf('eed');
    return cut >= region(word) ? word.slice(0, cut + 2) : word;
  }
  const end = /(?:ed|edly|ing|ingly)$/.exec(word);
  // A single letter is not a stem.
  if (end === null || end.index < 2 || !vowel.test(word.slice(0, end.index))) return word;
  const bare = word.slice(0, end.index);
  if (/(?:at|bl|iz)$/.test(bare)) return `${bare}e`;
  if (double.test(bare)) return bare.slice(0, -1);
  return shortEnd.test(bare) && region(bare) >= bare.length ? `${bare}e` : bare;
}

function finalY(word: string): string {
  return word.length > 2 && /[^aeiou][yY]$/.test(word) ? `${word.slice(0, -1)}i` : word;
}

function suffixes(word: string): string {
  let rest = replaceSuffix(word, derivations);
  if (rest === word && /[cdeghkmnrt]li$/.test(word) && word.length - 2 >= region(word)) {
    rest = word.slice(0, -2);
  }
  rest = replaceSuffix(rest, moreDerivations);
  if (rest.endsWith('ative') && rest.length - 5 >= secondRegion(rest)) rest = rest.slice(0, -5);
  const end = endings.exec(rest);
  return end !== null && end.index >= secondRegion(rest) ? rest.slice(0, end.index) : rest;
}

function replaceSuffix(word: string, suffixTable: [string, string][]): string {
  for (const [suffix, replacement] of suffixTable) {
    if (!word.endsWith(suffix)) continue;
    const cut = word.length - suffix.length;
    return cut >= region(word) ? word.slice(0, cut) + replacement : word;
  }
  return word;
}

function silentE(word: string): string {
  const cut = word.length - 1;
  if (word.endsWith('e')) {
    const bare = word.slice(0, cut);
    const drops = cut >= secondRegion(word) || (cut >= region(word) && !shortEnd.test(bare));
    return drops ? bare : word;
  }
  return word.endsWith('ll') && cut >= secondRegion(word) ? word.slice(0, cut) : word;
}

/** Returns the start of Porter2's region R1, after the first consonant that follows a vowel. */
function region(word: string): number {
  const special = /^(?:gener|commun|arsen)/.exec(word);
  return special === null ? regionFrom(word, 0) : special[0].length;
}

function secondRegion(word: string): number {
  return regionFrom(word, region(word));
}

function regionFrom(word: string, start: number): number {
  for (let at = start + 1; at < word.length; at += 1) {
    if (vowel.test(word.charAt(at - 1)) && !vowel.test(word.charAt(at))) return at + 1;
  }
  return word.length;
}

function table(text: string): [string, string][] {
  return text.split(',').map((pair) => {
    const [suffix = '', replacement = ''] = pair.split(' ');
    return [suffix, replacement];
  });
}

/*
 * Light stemming of Arabic, after Larkey's light10: removes the article, a leading conjunction and
 * the most common endings, without morphological analysis.
 */

const arabic = /^[\u0621-\u064a]+$/;
const conjunction = /^و(?=.{3})/;
const article = /^(?:وال|بال|كال|فال|ال|لل)(?=.{2})/;
/** Listed in the order of removal. Normalization has replaced ة and ى with ه and ي. */
const arabicEndings = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي'];
const minArabicStemLength = 2;

function stemArabic(word: string): string {
  const bare = word.replace(article, '');
  const start = bare === word ? word.replace(conjunction, '') : bare;
  return arabicEndings.reduce((rest, ending) => {
    const isTakenOff = rest.endsWith(ending) && rest.length - ending.length >= minArabicStemLength;
    return isTakenOff ? rest.slice(0, -ending.length) : rest;
  }, start);
}
