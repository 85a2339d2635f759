import { type ArithmeticExpression, parse, type Word, type WordPart } from 'unbash';
import type { Scope } from './scope.js';
import { HOLE, isNumeric } from './hole.js';

/**
 * bash evaluates the values of variables in arithmetic, and with them any command in a subscript. So every name must
 * hold a number, as far as the line sets it. False where that is not known.
 */
export function isSafeArithmetic(expression: ArithmeticExpression, scope: Scope): boolean {
  switch (expression.type) {
    case 'ArithmeticWord':
      return isSafeValue(expression.value, expression.parts, scope);
    case 'ArithmeticCommandExpansion':
      return false;
    case 'ArithmeticGroup':
      return isSafeArithmetic(expression.expression, scope);
    case 'ArithmeticUnary':
      noteResult(expression.operator, expression.operand, scope);
      return isSafeArithmetic(expression.operand, scope);
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate].every((part) =>
        isSafeArithmetic(part, scope),
      );
    case 'ArithmeticBinary': {
      const right = isSafeArithmetic(expression.right, scope);
      // A plain assignment does not look at what the name held.
      const isPlain = expression.operator === '=' && expression.left.type === 'ArithmeticWord';
      const left = isPlain
        ? /^[A-Za-z_]\w*$/.test((expression.left as { value: string }).value)
        : isSafeArithmetic(expression.left, scope);
      if (right && left) noteResult(expression.operator, expression.left, scope);
      return right && left;
    }
  }
}

const NAME = /^[A-Za-z_]\w*$/;
const ASSIGNS = /^(?:(?:[-+*/%&|^]|<<|>>)?=|\+\+|--)$/;

/** The variables that an expression sets. */
export function assignedIn(expression: ArithmeticExpression): string[] {
  switch (expression.type) {
    case 'ArithmeticGroup':
      return assignedIn(expression.expression);
    case 'ArithmeticUnary':
      return [...targetOf(expression.operator, expression.operand), ...assignedIn(expression.operand)];
    case 'ArithmeticBinary':
      return [
        ...targetOf(expression.operator, expression.left),
        ...assignedIn(expression.left),
        ...assignedIn(expression.right),
      ];
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate].flatMap(assignedIn);
    default:
      return [];
  }
}

const targetOf = (operator: string, target: ArithmeticExpression): string[] =>
  ASSIGNS.test(operator) && target.type === 'ArithmeticWord' && NAME.test(target.value) ? [target.value] : [];

/** A text that is read as arithmetic when it runs, as `let` does; undefined when it is more than plain names and numbers. */
export function readArithmetic(text: string): ArithmeticExpression | undefined {
  if (!/^[\w\s+*/%&|^<>=!~?:,()-]*$/.test(text)) return undefined;
  const line = `((${text}))`;
  const { commands, errors } = parse(line);
  const [only] = commands;
  if (errors !== undefined || commands.length !== 1 || only?.command.type !== 'ArithmeticCommand') return undefined;
  return only.command.end === line.length ? only.command.expression : undefined;
}

/** A subscript of `a=([x]=1)`, as it is written. */
export const isSafeSubscript = (text: string, scope: Scope): boolean =>
  !/[`[\\]|\$(?!\{?[A-Za-z_])/.test(text) &&
  (text.match(/[A-Za-z_]\w*/g) ?? []).every((name) => scope.isCountable(name));

function noteResult(operator: string, target: ArithmeticExpression, scope: Scope): void {
  const assigns = operator === '++' || operator === '--' || /^(?:[-+*/%&|^]|<<|>>)?=$/.test(operator);
  if (
    assigns &&
    target.type === 'ArithmeticWord' &&
    /^[A-Za-z_]\w*$/.test(target.value) &&
    scope.isCountable(target.value)
  ) {
    scope.set(target.value, [HOLE.number]);
  } else if (operator === '=' && target.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(target.value)) {
    scope.set(target.value, [HOLE.number]);
  }
}

function isSafeValue(value: string, parts: readonly WordPart[] | undefined, scope: Scope): boolean {
  if (/^\d\w*$/.test(value)) return true;
  if (/^[A-Za-z_]\w*$/.test(value)) return scope.isCountable(value);
  return parts !== undefined && parts.every((part) => isSafePart(part, scope));
}

/** The text of a subscript, a slice or a comparison, which bash reads as arithmetic. */
export function isSafeNumber(word: Word, scope: Scope): boolean {
  if (isNumeric(word.value) || /^[A-Za-z_]\w*$/.test(word.value))
    return isSafeValue(word.value, undefined, scope) || isNumeric(word.value);
  return word.parts !== undefined && word.parts.every((part) => isSafePart(part, scope));
}

function isSafePart(part: WordPart, scope: Scope): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return isNumeric(part.value);
    case 'DoubleQuoted':
      return part.parts.every((child) => isSafePart(child, scope));
    case 'SimpleExpansion': {
      const name = part.text.slice(1);
      return /^[?#$!]$/.test(name) || (/^[A-Za-z_]\w*$/.test(name) && scope.isCountable(name));
    }
    case 'ParameterExpansion':
      if (part.prefix === '#') return true;
      return (
        part.prefix === undefined &&
        part.index === undefined &&
        part.operation === undefined &&
        scope.isCountable(part.parameter)
      );
    case 'ArithmeticExpansion':
      return part.expression !== undefined && isSafeArithmetic(part.expression, scope);
    default:
      return false;
  }
}
