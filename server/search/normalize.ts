/*
 * Normalizes text. The result is in lower case, without accents or punctuation, with the words in
 * the same order.
 *
 *   "Ana: I'd love a Café,\nERR-4711!"  →  "ana: i love a cafe\nerr 4711"
 *
 * Words are separated by one space, and lines by a newline. The only remaining colons follow
 * speaker labels at the start of a line. Normalization does not stem words or split text in scripts
 * without spaces, because later steps do both.
 */
import { normalizeAscii } from './ascii.ts';
import { withParts } from './camel-case.ts';
import { canBeSpeaker, labelIn } from './labels.ts';
import { unspacedRun } from './scripts.ts';

/** How much text may grow when its characters are decomposed. Korean text triples in length. */
const maxGrowth = 4; // mutate-ignore constant: affects only cost
const allowedGrowth = 200;

const ascii = /^[\0-\x7f]*$/;
/**
 * The marks of a character after the first thirty, more than any word has; two of them are letters
 * that NFKD turns into marks. To put a run of marks in order takes time quadratic in its length.
 */
const excessMarks = /(?<=[\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
/**
 * English endings after an apostrophe, as in "Ana's" and "we'll". The whole ending is removed,
 * because removing only the apostrophe would turn "we'll" into "well".
 */
const clitic = /(?<=[a-z\d])'(?:s|m|d|re|ve|ll)(?![a-z\d])/g;
const negation = /(?<=n)'(?=t(?![a-z\d]))/g;
const thousands = /(?<=\d),(?=\d{3}(?!\d))/g;
/**
 * Latin, Greek and Cyrillic accents, and Hebrew and Arabic vowel points, which few people type.
 * Combining marks of other scripts distinguish words and are kept.
 */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g;
const latinWord = /(?:[a-zđ][\u0300-\u036f]*)+/g;
/**
 * Diacritics that only Vietnamese uses: the hook above, the dot below, the horn, and an acute,
 * grave or tilde tone mark on â, ê, ô or ă.
 */
const vietnamese = /[a-z](?:[\u0309\u0323\u031b]|[\u0302\u0306][\u0300\u0301\u0303])/;
const separators = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{RI}]+/gu;
/** Each emoji is a word, even without spaces around it. Skin tones and joiners are dropped. */
const emoji = /\p{RI}{2}|\p{Extended_Pictographic}/gu;
const modifiers = /[\u{1f3fb}-\u{1f3ff}]|[\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u200d|\u00ad/gu;

/** Letters that Unicode does not decompose, and the plain letters that people type instead. */
const plain = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ħ: 'h',
    ı: 'i',
    ŋ: 'n',
    ς: 'σ',
    ى: 'ي',
    ة: 'ه',
    ך: 'כ',
    ם: 'מ',
    ן: 'נ',
    ף: 'פ',
    ץ: 'צ',
  }),
);
const stroked = new RegExp(`[${[...plain.keys()].join('')}]`, 'g');

type Labels = {
  /** The author, who becomes a label if the text does not start with it. */
  author?: string;
  /** Whether the first line may begin with any label. */
  anyOnFirstLine?: boolean;
  /** The labels that other lines may begin with, and these labels normalized. */
  speakers?: ReadonlyMap<string, string>;
};

const nobody: ReadonlyMap<string, string> = new Map();

export function normalize(text: string, labels: Labels = {}): string {
  const { author = '', anyOnFirstLine = true, speakers = nobody } = labels;
  const labelled = author === '' || text.startsWith(author) ? text : `${author}: ${text}`;
  const normalizeAny = normalizerFor(labelled);
  const ofFirst = anyOnFirstLine ? null : speakers;
  if (!labelled.includes('\n')) return normalizeLine(labelled, normalizeAny, ofFirst, author);
  const [first = '', ...rest] = linesOf(labelled, speakers.size > 0);
  const lines = rest.map((line) => normalizeLine(line, normalizeAny, speakers));
  lines.unshift(normalizeLine(first, normalizeAny, ofFirst, author));
  return lines.filter((line) => line !== '').join('\n');
}

/** Splits off only the first line if no other line can have a label, because that is faster. */
function linesOf(text: string, all: boolean): string[] {
  if (all) return text.split('\n');
  const end = text.indexOf('\n');
  return end < 0 ? [text] : [text.slice(0, end), text.slice(end)];
}

/** Normalizes words. Labels and line breaks have no special meaning. */
export function normalizeWords(text: string): string {
  return ascii.test(text) ? normalizeAscii(text) : normalizeUnicode(text, 'NFKD');
}

/**
 * Returns the function that normalizes the text. NFKD can expand one character into eighteen, so
 * NFD is used for text that NFKD would expand too much.
 */
function normalizerFor(text: string): (text: string) => string {
  if (ascii.test(text)) return normalizeAscii;
  const isTooLong = decompose(text, 'NFKD').length > maxGrowth * text.length + allowedGrowth;
  return (part) => normalizeUnicode(part, isTooLong ? 'NFD' : 'NFKD');
}

/** Normalizes a line. `speakers` are the labels that count, or null for any. */
function normalizeLine(
  line: string,
  normalizeAny: (text: string) => string,
  speakers: ReadonlyMap<string, string> | null,
  author = '',
): string {
  const found = speakers?.size === 0 ? null : labelIn(line, author);
  if (found === null) return normalizeAny(withParts(line));
  const { start, colon } = found;
  const speaker = line.slice(start, colon);
  const label = speakers === null ? normalizeAny(speaker) : speakers.get(speaker);
  const isSpeaker = label !== undefined && (speakers !== null || canBeSpeaker(label));
  if (!isSpeaker) return normalizeAny(withParts(line));
  const statement = `${label}: ${normalizeAny(withParts(line.slice(colon + 1)))}`.trimEnd();
  // Move the time to the end, so that the label is at the start of the line.
  // mutate-ignore constant: a time is longer than a character
  return start === 0 ? statement : `${statement} ${normalizeAny(line.slice(0, start))}`.trimEnd();
}

/** Removes accents, except from Vietnamese words: two of these may differ only in their accents. */
function removeAccents(decomposed: string): string {
  if (!vietnamese.test(decomposed)) return decomposed.replace(accents, '');
  const withoutWords = decomposed.replace(latinWord, (word) => {
    return vietnamese.test(word) ? word.normalize('NFC') : word.replace(accents, '');
  });
  return withoutWords.replace(accents, '');
}

/** Removes accents, including those that normalization keeps in Vietnamese words. */
export function withoutAccents(word: string): string {
  return word.normalize('NFD').replace(accents, '').normalize('NFC');
}

function decompose(text: string, form: 'NFKD' | 'NFD'): string {
  return text.replace(excessMarks, '').normalize(form);
}

function normalizeUnicode(text: string, form: 'NFKD' | 'NFD'): string {
  const letters = removeAccents(
    decompose(text, form)
      .replace(/[’ʼ＇]/g, "'")
      .toLowerCase(),
  )
    .replace(stroked, (letter) => plain.get(letter) ?? letter)
    .normalize('NFC')
    .replace(clitic, '')
    .replace(negation, '')
    .replace(thousands, '')
    .replace(modifiers, '')
    .replace(emoji, ' $& ')
    .replace(unspacedRun, ' $& ');
  return letters.replace(separators, ' ').trim();
}
