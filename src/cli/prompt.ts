/** The prompt of a single answer: the argument, what stands on stdin, or both. */
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { HeddleError } from '../protocol/plain.js';

const FIRST_BYTE_WITHIN_MS = 3_000;

export interface PromptSource {
  words: readonly string[];
  /** Undefined when there is nothing to read. */
  input: Readable | undefined;
  firstByteWithinMs?: number;
  /** No prompt is one too: a turn that was left unfinished is gone on with. */
  mayBeEmpty?: boolean;
  /** Told when nothing came and the words are used alone. */
  onSilence: () => void;
}

/** Throws `invalid_config` when there is no prompt and one is needed. Text from `input` follows the words after a blank line. */
export async function readPrompt(source: PromptSource): Promise<string> {
  const { words, input, firstByteWithinMs, mayBeEmpty = false, onSilence } = source;
  const argument = words.join(' ').trim();
  const isOptional = mayBeEmpty || argument !== '';
  const text = input === undefined ? '' : await readAll({ input, isOptional, firstByteWithinMs, onSilence });
  const prompt = [argument, text.trim() === '' ? '' : text.trimEnd()].filter(Boolean).join('\n\n');
  if (prompt !== '' || mayBeEmpty) return prompt;
  throw new HeddleError(
    'invalid_config',
    'Error: Input must be provided either through stdin or as a prompt argument when using --print',
  );
}

interface Reading {
  input: Readable;
  isOptional: boolean;
  firstByteWithinMs?: number;
  onSilence: () => void;
}

/** Programs often leave our stdin open without writing to it: with a prompt at hand, silence is not waited out. */
function readAll({ input, isOptional, firstByteWithinMs = FIRST_BYTE_WITHIN_MS, onSilence }: Reading): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const stop = (): void => {
      clearTimeout(timer);
      input.off('data', onData).off('end', onEnd).off('error', onError);
      input.pause();
    };
    const onData = (chunk: Buffer | string): void => {
      clearTimeout(timer);
      chunks.push(Buffer.from(chunk));
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    const onError = (error: Error): void => {
      stop();
      reject(new HeddleError('invalid_config', `Error: stdin cannot be read: ${error.message}`, { cause: error }));
    };
    const timer = isOptional
      ? setTimeout(() => {
          onSilence();
          onEnd();
        }, firstByteWithinMs)
      : undefined;
    input.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

/** A terminal or /dev/null has nothing for us; a pipe, a socket or a file may. */
export function hasInput(fd: number): boolean {
  try {
    return !fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}
