import { SyntaxKind as Kind, type Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { commentsOf, type Found, isEquivalent, type Mutation } from './equivalent.ts';

/** The mutation operators. Each returns its mutations of a syntax node. */
const mutationOperators: Record<
  string,
  (node: Node, textOf: (part: Node) => string) => Mutation[]
> = {
  boundary: (node) => replaceOperator(node, boundaries),
  negation(node, textOf) {
    const condition =
      is.isIfStatement(node) || is.isWhileStatement(node)
        ? node.expression
        : is.isConditionalExpression(node)
          ? node.condition
          : undefined;
    if (condition === undefined) return replaceOperator(node, negations);
    return [replace(condition, `!(${textOf(condition)})`)];
  },
  operand(node, textOf) {
    if (!is.isBinaryExpression(node) || !logical.includes(node.operatorToken.kind)) return [];
    return [node.left, node.right].map((side) => replace(node, `(${textOf(side)})`));
  },
  constant(node, textOf) {
    if (!is.isNumericLiteral(node)) return [];
    const value = Number(textOf(node).replaceAll('_', ''));
    return [replace(node, String(value < 10 ? value + 1 : Math.floor(value / 2)))];
  },
  boolean(node) {
    if (node.kind === Kind.TrueKeyword) return [replace(node, 'false')];
    return node.kind === Kind.FalseKeyword ? [replace(node, 'true')] : [];
  },
  removal(node) {
    const isGuard = is.isIfStatement(node) && node.elseStatement === undefined;
    return isGuard || is.isExpressionStatement(node) || is.isThrowStatement(node)
      ? [replace(node, '{}')]
      : [];
  },
  result(node, textOf) {
    const isBody = is.isArrowFunction(node) && !is.isBlock(node.body);
    const result = is.isReturnStatement(node) ? node.expression : isBody ? node.body : undefined;
    if (result === undefined) return [];
    return results.filter((text) => text !== textOf(result)).map((text) => replace(result, text));
  },
  sql(node, textOf) {
    if (!texts.includes(node.kind) || !isSql.test(textOf(node))) return [];
    return Array.from(textOf(node).matchAll(sqlOperators), ({ 0: found, index }) => {
      const start = node.getStart() + index;
      return { start, end: start + found.length, text: sqlMutations[found] ?? '' };
    });
  },
};

const boundaries = new Map<Kind, string>([
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
]);
const negations = new Map<Kind, string>([
  [Kind.LessThanToken, '>='],
  [Kind.LessThanEqualsToken, '>'],
  [Kind.GreaterThanToken, '<='],
  [Kind.GreaterThanEqualsToken, '<'],
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
]);
const logical = [Kind.AmpersandAmpersandToken, Kind.BarBarToken, Kind.QuestionQuestionToken];
/**
 * Values to return instead of the original. The type check filters out those that the return type
 * does not allow.
 */
const results = ['null', 'undefined', 'true', 'false', '0', "''", '[]', '{}'];
const texts = [
  Kind.StringLiteral,
  Kind.NoSubstitutionTemplateLiteral,
  Kind.TemplateHead,
  Kind.TemplateMiddle,
  Kind.TemplateTail,
];
/** Only SQL strings are mutated, because most other strings are messages. */
const isSql = /\b(?:SELECT|UPDATE|DELETE|INSERT|WHERE|VALUES|ORDER BY|IS (?:NOT )?NULL)\b|\+\?/;
const sqlOperators = /(?<=\s)(?:<=|>=|<|>|AND|OR|ASC|DESC|IS NULL|IS NOT NULL)(?=\s|`|'|$)/g;
const sqlMutations: Record<string, string> = {
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  AND: 'OR',
  OR: 'AND',
  ASC: 'DESC',
  DESC: 'ASC',
  'IS NULL': 'IS NOT NULL',
  'IS NOT NULL': 'IS NULL',
};

/** Returns the mutations of a file, grouped by mutation operator, without equivalent ones. */
export function mutationsOf(file: Node, text: string): Map<string, Mutation[]> {
  const comments = commentsOf(text);
  const found = allMutationsOf(file, text).filter((one) => !isEquivalent(one, text, comments));
  return Map.groupBy(found, ({ operator }) => operator);
}

export function allMutationsOf(file: Node, text: string): Found[] {
  const found: Found[] = [];
  const textOf = (part: Node) => text.slice(part.getStart(), part.end);
  function visit(node: Node, ancestors: Node[]): void {
    // Types and imports have no behaviour at run time.
    if (is.isTypeNode(node) || is.isImportDeclaration(node) || is.isExportDeclaration(node)) return;
    if (is.isTypeAliasDeclaration(node) || is.isInterfaceDeclaration(node)) return;
    for (const [operator, mutate] of Object.entries(mutationOperators)) {
      for (const one of mutate(node, textOf)) found.push({ ...one, operator, node, ancestors });
    }
    node.forEachChild((child) => visit(child, [...ancestors, node]));
  }
  visit(file, []);
  return found;
}

function replaceOperator(node: Node, by: Map<Kind, string>): Mutation[] {
  if (!is.isBinaryExpression(node)) return [];
  const operator = by.get(node.operatorToken.kind);
  return operator === undefined ? [] : [replace(node.operatorToken, operator)];
}

function replace(node: Node, text: string): Mutation {
  return { start: node.getStart(), end: node.end, text };
}
