/*
 * Light stemming of Arabic, after Larkey's light10: removes the article, a leading conjunction and
 * the most common endings, without morphological analysis.
 */

const arabic = /^[\u0621-\u064a]+$/;
const conjunction = /^و(?=.{3})/;
const article = /^(?:وال|بال|كال|فال|ال|لل)(?=.{2})/;
/** Listed in the order of removal. Normalization has replaced ة and ى with ه and ي. */
const endings = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي'];
const minStemLength = 2;

export function isArabic(word: string): boolean {
  return arabic.test(word);
}

export function stemArabic(word: string): string {
  const bare = word.replace(article, '');
  const start = bare === word ? word.replace(conjunction, '') : bare;
  return endings.reduce((rest, ending) => {
    const isTakenOff = rest.endsWith(ending) && rest.length - ending.length >= minStemLength;
    return isTakenOff ? rest.slice(0, -ending.length) : rest;
  }, start);
}
