import { listed } from './listed.js';

export interface OperandSpec {
  /** Flags whose value is a script, or another text that is no file. */
  scripts?: string;
  /** Letters without values that may stand before such a flag. */
  plain?: string;
}

/** All words that are no flags, without the scripts of flags. */
export function operandsOf(args: readonly string[], { scripts, plain = '' }: OperandSpec): string[] {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const isScript = (_: string, at: number): boolean => {
    const flag = before[at - 1] ?? '';
    const isShort = listed(scripts).includes(flag.slice(-1)) && /^-[^-]*$/.test(flag);
    const isLong = /^--[a-z]/.test(flag) && listed(scripts).some((each) => each.startsWith(flag.slice(2)));
    return (
      isLong ||
      (isShort &&
        flag
          .slice(1, -1)
          .split('')
          .every((letter) => plain.includes(letter)))
    );
  };
  const isOperand = (arg: string, at: number): boolean =>
    (!arg.startsWith('-') || arg === '-') && !(scripts !== undefined && isScript(arg, at));
  return [...before.filter(isOperand), ...(end === -1 ? [] : args.slice(end + 1))];
}
