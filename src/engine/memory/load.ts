/** The instructions that a session starts with. */
import type { DefinitionProblem } from '../definitions/definition.js';
import type { MemoryPlace } from './find.js';
import { createMemoryReader, type MemoryFile, type MemoryReaderOptions } from './reader.js';

export interface LoadMemoryOptions extends MemoryReaderOptions {
  /** Somebody vouches for the project. Otherwise its files are not read: they would speak with the user's voice. */
  trusted: boolean;
}

export interface LoadedMemory {
  files: MemoryFile[];
  problems: DefinitionProblem[];
  /** Files of the project that are not read before it is trusted. */
  waiting: string[];
}

/** `places` as `findMemory` gives them. Never rejects. */
export async function loadMemory(places: readonly MemoryPlace[], options: LoadMemoryOptions): Promise<LoadedMemory> {
  const { trusted, ...reading } = options;
  const mayBeRead = ({ scope }: MemoryPlace): boolean => trusted || scope === 'managed' || scope === 'user';
  const { files, problems } = await createMemoryReader(reading).read(places.filter(mayBeRead));
  const waiting = places.filter((place) => !mayBeRead(place)).map(({ path }) => path);
  return { files, problems, waiting };
}
