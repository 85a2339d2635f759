/** A slash command from its Markdown file. */
import type { CommandFile } from './definition.js';
import { createFieldReader, type FieldReader, firstWords } from './field-reader.js';
import { type DefinitionSource, isCallName, type Parsed, withNamespace } from './source.js';

export function parseCommandFile(source: DefinitionSource): Parsed<CommandFile> {
  const { matter, file, origin } = source;
  const reader = createFieldReader(matter.fields, file);
  const finish = (value: CommandFile | undefined): Parsed<CommandFile> => ({
    value,
    problems: [...matter.problems, ...reader.problems],
  });
  if (matter.state === 'none' && /^readme$/i.test(source.name)) return finish(undefined);
  const name = [...source.folders, source.name].join(':');
  if (!isCallName(name)) {
    reader.warn(1, `"/${name}" cannot be called: rename the file or its folder, without blanks and quotes`);
    return finish(undefined);
  }
  return finish({ name: withNamespace(origin, name), ...readCallFields(reader, source), origin });
}

/** What commands and skills have in common. */
export function readCallFields(
  reader: FieldReader,
  { matter }: DefinitionSource,
): Omit<CommandFile, 'name' | 'origin'> {
  const description = reader.text('description') ?? firstWords(matter.body);
  const occasion = reader.text('when_to_use', 'when-to-use');
  const model = reader.text('model');
  // Of a frontmatter that cannot be read nobody knows whether it kept the model away.
  const isKeptAway =
    matter.state === 'broken' ||
    reader.flag('disable-model-invocation', { whenWrong: true }) === true ||
    reader.flag('hide-from-slash-command-tool', { whenWrong: true }) === true;
  return {
    description: occasion === undefined ? description : `${description} ${occasion}`.trim(),
    argumentHint: readHint(reader),
    allowedTools: reader.names('allowed-tools', 'allowedTools', 'allowed_tools', 'tools') ?? [],
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    modelMayCall: !isKeptAway,
    userMayCall: reader.flag('user-invocable', { whenWrong: true }) ?? true,
  };
}

/** A list of names is shown the way hints are written. */
function readHint(reader: FieldReader): string {
  const field = reader.find('argument-hint', 'argumentHint');
  if (!Array.isArray(field?.value)) return reader.text('argument-hint', 'argumentHint') ?? '';
  const items: readonly unknown[] = field.value.flat(2);
  return items.map((item) => (/^[[<]/.test(String(item)) ? String(item) : `[${String(item)}]`)).join(' ');
}
