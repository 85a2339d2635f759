/** An output style from its Markdown file. */
import type { OutputStyle } from './definition.js';
import { createFieldReader, firstWords } from './field-reader.js';
import { type DefinitionSource, isName, type Parsed, withNamespace } from './source.js';

const KEEPS = ['keep-coding-instructions', 'keepCodingInstructions'] as const;

export function parseStyleFile(source: DefinitionSource): Parsed<OutputStyle> {
  const { matter, file, origin } = source;
  const reader = createFieldReader(matter.fields, file);
  const finish = (value: OutputStyle | undefined): Parsed<OutputStyle> => ({
    value,
    problems: [...matter.problems, ...reader.problems],
  });
  if (matter.state === 'none' && /^readme$/i.test(source.name)) return finish(undefined);
  const prompt = matter.body.trim();
  if (prompt === '') {
    reader.warn(matter.bodyLine, 'the output style has no text; it is left out');
    return finish(undefined);
  }
  const written = reader.text('name');
  const name = written !== undefined && isName(written) ? written : source.name;
  const keeps = KEEPS.map((key) => reader.flag(key, { whenWrong: true })).find((each) => each !== undefined);
  return finish({
    name: withNamespace(origin, name),
    description: reader.text('description') ?? firstWords(prompt),
    prompt,
    keepsDefault: keeps ?? false,
    origin,
  });
}
