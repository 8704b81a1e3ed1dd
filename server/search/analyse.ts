/*
 * Text → the folded form that is stored beside a passage and searched. It keeps every word in its
 * place, unstemmed, and nothing of how a query is understood: stems, stop words and synonyms can
 * change without touching what is stored.
 *
 *   "Ana: I'd love a Café,\nERR-4711!"  →  "ana: i love a cafe\nerr 4711"
 *
 * Words are parted by one space, lines by a newline. A colon stands only after the label that
 * opens a line, which is who speaks. Scripts without spaces stay in runs.
 */

/** Of a text whose characters are parted: Korean becomes three times as long, and short again. */
const mostGrowth = 4;
const usualGrowth = 200;

/** "Customer Service Agent:" is a label, a sentence that happens to hold a colon is not. */
const maxLabelLength = 40;
const maxLabelWords = 4;
/** When something was said, before who said it: "[8 May, 13:56] Ana: …". */
const stamp = /^\s*(?:[[(][^\])]{1,40}[\])]|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?)\s+/;

const ascii = /^[\0-\x7f]*$/;
/** What English hangs on a word: "Ana's", "we'll". Kept, they would read as "well" or "ill". */
const clitic = /(?<=[a-z\d])'(?:s|m|d|re|ve|ll)(?![a-z\d])/g;
const negation = /(?<=n)'(?=t(?![a-z\d]))/g;
const thousands = /(?<=\d),(?=\d{3}(?!\d))/g;
/** Accents of Latin, Greek and Cyrillic; vowel points of Hebrew and Arabic, which few people type.
 * Marks of other scripts are letters in their own right and stay. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g;
const separators = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{RI}]+/gu;
/** Emoji stand alone: people write them on the end of words. Skin tones and joiners are dropped. */
const emoji = /\p{RI}{2}|\p{Extended_Pictographic}/gu;
const modifiers = /[\u{1f3fb}-\u{1f3ff}]|[\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u200d|\u00ad/gu;
/** Scripts that do not part their words, first and last unit; planes 2 and 3 come on top. */
const unspacedRanges = [
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3005, 0x3007],
  [0x3040, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
] as const;
const unspaced = unspacedRanges.map((ends) => [...String.fromCharCode(...ends)].join('-'));
const unspacedRun = new RegExp(`[${unspaced.join('')}\u{20000}-\u{3ffff}]+`, 'gu');

/** Letters that do not decompose but that people leave the stroke or the ligature out of. */
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

/** What an ASCII unit is folded to; 0 where it parts words. */
const asciiFolded = new Uint8Array(128);
for (const unit of 'abcdefghijklmnopqrstuvwxyz0123456789') {
  asciiFolded[unit.charCodeAt(0)] = unit.charCodeAt(0);
  asciiFolded[unit.toUpperCase().charCodeAt(0)] = unit.charCodeAt(0);
}
const space = 0x20;
/** Of the text in hand; as long as the longest there was. */
let written = Buffer.alloc(2_048);

/**
 * The folded form of a passage, as it is stored. Where who speaks is known but not written in the
 * text, `speaker` labels its first line.
 */
export function analyse(text: string, speaker = ''): string {
  const labelled = speaker === '' || text.startsWith(speaker) ? text : `${speaker}: ${text}`;
  const form = formFor(labelled);
  const lines: string[] = [];
  for (const line of labelled.split('\n')) {
    const folded = foldLine(line, form);
    if (folded !== '') lines.push(folded);
  }
  return lines.join('\n');
}

/** How characters are parted into what they are made of; K also those that stand for several. */
type Form = 'NFKD' | 'NFD';

/** One sign may stand for eighteen letters. A text of nothing else is not made so much longer. */
function formFor(text: string): Form {
  if (ascii.test(text)) return 'NFKD';
  return text.normalize('NFKD').length > mostGrowth * text.length + usualGrowth ? 'NFD' : 'NFKD';
}

/** The words of a text, folded, without labels and lines. Runs of unspaced script stay whole. */
export function fold(text: string, form: Form = 'NFKD'): string {
  return ascii.test(text) ? foldAscii(text) : foldUnicode(text, form);
}

/** Whether a UTF-16 unit belongs to a script that does not part its words. */
export function isUnspaced(unit: number): boolean {
  // Most text is below all of them.
  if (unit < unspacedRanges[0][0]) return false;
  // The first halves of planes 2 and 3.
  if (unit >= 0xd840 && unit <= 0xd8bf) return true;
  return unspacedRanges.some(([first, last]) => unit >= first && unit <= last);
}

function foldLine(line: string, form: Form): string {
  const start = stamp.exec(line)?.[0].length ?? 0;
  const colon = line.indexOf(': ', start);
  if (colon <= start || colon - start >= maxLabelLength) return fold(line, form);
  const label = fold(line.slice(start, colon), form);
  if (label === '' || label.split(' ').length > maxLabelWords) return fold(line, form);
  const said = `${label}: ${fold(line.slice(colon + 1), form)}`.trimEnd();
  // When it was said follows, so that the label opens the line.
  return start === 0 ? said : `${said} ${fold(line.slice(0, start), form)}`.trimEnd();
}

function foldAscii(text: string): string {
  const joined = text.includes("'")
    ? text.toLowerCase().replace(clitic, '').replace(negation, '')
    : text;
  return partAscii(joined.includes(',') ? joined.replace(thousands, '') : joined);
}

/** Unit by unit, in a third of the time that regular expressions take: all that is stored comes
 * by here. */
function partAscii(text: string): string {
  if (written.length < text.length) written = Buffer.alloc(text.length);
  let end = 0;
  let parted = true;
  for (let at = 0; at < text.length; at += 1) {
    const unit = asciiFolded[text.charCodeAt(at)] ?? 0;
    if (unit > 0) written[end++] = unit;
    else if (!parted) written[end++] = space;
    parted = unit === 0;
  }
  if (parted && end > 0) end -= 1;
  return written.toString('latin1', 0, end);
}

function foldUnicode(text: string, form: Form): string {
  const letters = text
    .replace(/[’ʼ＇]/g, "'")
    .normalize(form)
    .toLowerCase()
    .replace(accents, '')
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
