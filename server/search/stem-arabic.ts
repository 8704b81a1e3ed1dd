/*
 * Light stemming of Arabic, after Larkey's light10: the article, a conjunction before it and the
 * commonest endings are taken off, whatever they mean.
 */

const arabic = /^[\u0621-\u064a]+$/;
const conjunction = /^و(?=.{3})/;
const article = /^(?:وال|بال|كال|فال|ال|لل)(?=.{2})/;
/** In the order in which they are taken off; ة and ى are normalized to ه and ي. */
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
