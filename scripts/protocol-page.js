// Renders docs/protocol.md from the JSON Schema of the protocol.

const REF = '#/$defs/';
const nameIn = ($ref) => $ref.slice(REF.length);

/** A type as a reader writes it; names of other entries stay names. */
function typeText(schema) {
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.not !== undefined) return '...';
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => typeText(one)))].join(' | ');
  if (schema.oneOf !== undefined) return [...new Set(schema.oneOf.map((one) => typeText(one)))].join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map((one) => typeText(one)).join(' & ');
  if (schema.type === 'array') {
    const item = typeText(schema.items ?? {});
    return /[ |&]/.test(item) ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object') {
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) return objectText(schema);
    const values = schema.additionalProperties;
    return typeof values === 'object' && Object.keys(values).length > 0 ? `{ [name]: ${typeText(values)} }` : 'object';
  }
  if (schema.type === 'string' && schema.examples !== undefined) {
    return [...schema.examples.map((value) => JSON.stringify(value)), '...'].join(' | ');
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type })).join(' | ');
  return schema.type ?? 'any';
}

function objectText(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `${name}${required.has(name) ? '' : '?'}: ${typeText(field)}`,
  );
  return `{ ${fields.join('; ')} }`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function limits(field) {
  const words = [];
  if (field.default !== undefined) words.push(`default ${JSON.stringify(field.default)}`);
  if (field.minimum !== undefined) words.push(`at least ${field.minimum}`);
  if (field.exclusiveMinimum !== undefined) words.push(`above ${field.exclusiveMinimum}`);
  if (field.maximum !== undefined) words.push(`at most ${field.maximum}`);
  if (field.minItems !== undefined) words.push(`${field.minItems} to ${field.maxItems ?? 'any number of'} items`);
  return words.join(', ');
}

/** The fields of an object as a table; other schemas as a line. */
function fieldTable(schema, { skip = [] } = {}) {
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) => !skip.includes(name));
  if (schema.properties === undefined) return [`\`${typeText(schema)}\``];
  if (entries.length === 0) return ['No fields.'];
  const required = new Set(schema.required ?? []);
  return [
    '| Field | Type | |',
    '|---|---|---|',
    ...entries.map(([name, field]) => {
      const notes = [field.description, limits(field)].filter(Boolean).join(' ');
      const mark = required.has(name) ? '' : '?';
      return `| \`${name}${mark}\` | ${cell(`\`${typeText(field)}\``)} | ${cell(notes)} |`;
    }),
  ];
}

function entry(defs, { name, title = name, skip }) {
  const schema = defs[name];
  return [
    `### \`${title}\``,
    '',
    ...(schema.description === undefined ? [] : [schema.description, '']),
    ...fieldTable(schema, { skip }),
    '',
  ];
}

const membersOf = (defs, union) =>
  defs[union].anyOf.flatMap((one) => (one.$ref === undefined ? [] : [{ name: nameIn(one.$ref) }]));

function requestEntry(defs, { subtype, about, params, result, from }) {
  return [
    `### \`${subtype}\``,
    '',
    from === 'both' ? `${about} Either side may send it.` : about,
    '',
    ...fieldTable(defs[params]),
    '',
    'Answer:',
    '',
    ...fieldTable(defs[result]),
    '',
  ];
}

/** The sections whose entries are named; every other shape is listed after them. */
function sections(protocol, defs, tools) {
  const subtypes = new Map(Object.entries(protocol.SYSTEM_MESSAGES).map(([subtype, schema]) => [schema, subtype]));
  const messages = membersOf(defs, 'Message').filter(({ name }) => !['SystemMessage', 'ResultMessage'].includes(name));
  return {
    messages: [
      {
        title: 'Messages',
        entries: [...messages, { name: 'KeepAlive' }, { name: 'UpdateEnvironmentVariables' }],
      },
      { title: 'Result messages', entries: [{ name: 'ResultSuccess' }, { name: 'ResultError' }] },
      {
        title: 'System messages',
        intro: 'All have `type: "system"`, `subtype`, `uuid` and `session_id`.',
        entries: Object.entries(protocol)
          .filter(([, schema]) => subtypes.has(schema))
          .map(([name, schema]) => ({
            name,
            title: subtypes.get(schema),
            skip: ['type', 'subtype', 'uuid', 'session_id'],
          })),
      },
      {
        title: 'Control envelopes',
        entries: ['ControlRequest', 'ControlResponse', 'ControlSuccess', 'ControlError', 'ControlCancelRequest'].map(
          (name) => ({ name }),
        ),
      },
    ],
    rest: [
      {
        title: 'Hook inputs',
        intro:
          'All have `hook_event_name`, `session_id`, `transcript_path`, `cwd`, and where known `permission_mode`, `agent_id` and `agent_type`.',
        entries: Object.keys(protocol.HOOK_INPUTS).map((event) => ({
          name: `${event}HookInput`,
          title: event,
          skip: ['hook_event_name', 'session_id', 'transcript_path', 'cwd', 'prompt_id', 'permission_mode', 'effort'],
        })),
      },
      {
        title: 'Hook outputs',
        intro: 'An empty object means: go on. Each event has its own `hookSpecificOutput`.',
        entries: [
          { name: 'SyncHookOutput' },
          { name: 'AsyncHookOutput' },
          ...Object.keys(protocol.HOOK_SPECIFIC_OUTPUTS).map((event) => ({ name: `HookSpecificOutput.${event}` })),
        ],
      },
      { title: 'Tool inputs', entries: tools.map(([tool, name]) => ({ name, title: tool })) },
      {
        title: 'Settings',
        entries: [{ name: 'Settings' }, { name: 'PermissionSettings' }, { name: 'SandboxSettings' }],
      },
      { title: 'Content blocks', entries: membersOf(defs, 'ContentBlockParam') },
      { title: 'Model events', entries: [...membersOf(defs, 'ModelEvent'), ...membersOf(defs, 'ContentDelta')] },
    ],
  };
}

const section = (defs, { title, intro, entries }) => [
  `## ${title}`,
  '',
  ...(intro === undefined ? [] : [intro, '']),
  ...entries.flatMap((one) => entry(defs, one)),
];

export function renderPage({ protocol, defs: all, requests, tools }) {
  // The params of each request have their own section; here they would fill the page.
  const request = { $ref: `${REF}{ subtype, ...params }` };
  const envelope = { ...all.ControlRequest, properties: { ...all.ControlRequest.properties, request } };
  const defs = { ...all, ControlRequest: envelope };
  const { messages, rest } = sections(protocol, defs, tools);
  const shown = new Set([
    ...[...messages, ...rest].flatMap(({ entries }) => entries.map(({ name }) => name)),
    ...requests.flatMap(({ params, result }) => [params, result]),
  ]);
  const others = Object.keys(defs).filter((name) => !shown.has(name));

  return [
    '# Protocol reference',
    '',
    'Generated from the schemas in `src/protocol` by `npm run generate`. The same as JSON Schema: `schema/`.',
    '',
    'A channel carries frames: one JSON object each, on stdio one per line. A frame is a message or a control envelope.',
    'Fields marked `?` may be absent. Unknown types, subtypes and fields pass unchanged; `...` in a list of names means',
    'that others may come. A field of a wrong type is an `invalid_frame` error that names the path of the field.',
    '',
    ...messages.flatMap((one) => section(defs, one)),
    '## Requests of the host',
    '',
    ...requests.filter(({ from }) => from !== 'engine').flatMap((one) => requestEntry(defs, one)),
    '## Requests of the engine',
    '',
    ...requests.filter(({ from }) => from !== 'host').flatMap((one) => requestEntry(defs, one)),
    ...rest.flatMap((one) => section(defs, one)),
    ...section(defs, { title: 'Other shapes', entries: others.toSorted().map((name) => ({ name })) }),
    '## Error codes',
    '',
    '| Code | |',
    '|---|---|',
    ...Object.entries(protocol.ERROR_CODES).map(([code, text]) => `| \`${code}\` | ${cell(text)} |`),
    '',
  ].join('\n');
}
