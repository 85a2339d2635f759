/** A skill from its SKILL.md. */
import { dirname } from 'node:path';
import { readCallFields } from './command-file.js';
import type { SkillFile } from './definition.js';
import { createFieldReader, type FieldReader } from './field-reader.js';
import { type DefinitionSource, isCallName, type Parsed, withNamespace } from './source.js';

export function parseSkillFile(source: DefinitionSource): Parsed<SkillFile> {
  const { matter, file, origin } = source;
  const reader = createFieldReader(matter.fields, file);
  const finish = (value: SkillFile | undefined): Parsed<SkillFile> => ({
    value,
    problems: [...matter.problems, ...reader.problems],
  });
  const written = reader.text('name');
  const name = written !== undefined && isCallName(written) ? written : source.name;
  if (!isCallName(name)) {
    reader.warn(1, `"/${name}" cannot be called: give the skill a "name" without blanks and quotes`);
    return finish(undefined);
  }
  if (written !== undefined && written !== name) {
    reader.warn(
      reader.find('name')?.line ?? 1,
      `a skill cannot be called "${written}"; the name of its folder counts: "${name}"`,
    );
  }
  const fields = readCallFields(reader, source);
  if (fields.description === '') reader.warn(1, 'the skill has no "description": the model cannot know when to use it');
  const fork = readFork(reader);
  return finish({
    name: withNamespace(origin, name),
    ...fields,
    folder: dirname(file),
    ...(fork && { fork }),
    origin,
  });
}

/** Where it runs. What cannot be read changes nothing: the text then goes to whoever calls it. */
function readFork(reader: FieldReader): SkillFile['fork'] {
  const place = reader.find('context');
  const context = reader.text('context')?.toLowerCase();
  const agent = reader.text('agent');
  if (context === 'fork') return agent === undefined ? {} : { agent };
  if (context !== undefined && context !== 'inline') {
    reader.warn(place?.line ?? 1, `"context" must be fork or inline, and is "${context}"; inline counts`);
  } else if (agent !== undefined) {
    reader.warn(reader.find('agent')?.line ?? 1, '"agent" counts only beside "context: fork"; it is left out');
  }
  return undefined;
}
