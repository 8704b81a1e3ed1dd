/** Longer words are hashes and encoded data. */
const maxLength = 40;
const camelCase = /[a-z][a-z\d][A-Z][A-Za-z]|[A-Z]{2}[a-z]{2}/;
const boundary = /[a-z][a-z\d](?=[A-Z][A-Za-z])|[A-Z](?=[A-Z][a-z]{2})/g;

/**
 * Appends the parts of words in camel case: "call getUserName" also contains "get User Name". They
 * follow the whole text, so that the words keep their neighbours. A part has at least two letters:
 * "iPhone", "kWh" and "APIs" are one word.
 */
export function withParts(text: string): string {
  if (!camelCase.test(text)) return text;
  const words = text.match(/[\p{L}\p{M}\d]+/gu) ?? [];
  const split = words.filter((word) => word.length <= maxLength && camelCase.test(word));
  return [text, ...split.map((word) => word.replace(boundary, '$& '))].join(' ');
}
