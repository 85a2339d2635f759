// Writes what follows from the schemas: schema/*.json, docs/protocol.md and the tool schemas that the model sees.
// `--check` writes nothing and fails when a file is stale. Needs a built dist/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { renderPage } from './protocol-page.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const REF = '#/$defs/';

const pascal = (name) => name.replace(/(^|_)([a-z])/g, (_, _dash, letter) => letter.toUpperCase());

/** Schemas among the exports: what `lazy` returns has no prototype, unlike a class. */
const lazySchemas = (protocol) =>
  Object.entries(protocol).filter(
    ([name, value]) => /^[A-Z][a-z]/.test(name) && typeof value === 'function' && value.prototype === undefined,
  );

/** Every schema under a name: exported ones, members of open unions, params and results of requests. */
function collect(protocol) {
  const registry = z.registry();
  const names = new Map();
  const add = (schema, id) => {
    const known = names.get(schema);
    if (known !== undefined) return known;
    names.set(schema, id);
    registry.add(schema, { id });
    const union = protocol.openUnionOf(schema);
    for (const [key, member] of Object.entries(union?.members ?? {})) add(member(), `${id}.${key}`);
    return id;
  };
  const exported = lazySchemas(protocol).map(([name, lazySchema]) => [lazySchema(), name]);
  for (const [schema, name] of exported) {
    names.set(schema, name);
    registry.add(schema, { id: name });
  }
  for (const [schema, name] of exported) {
    const union = protocol.openUnionOf(schema);
    for (const [key, member] of Object.entries(union?.members ?? {})) add(member(), `${name}.${key}`);
  }
  const requests = Object.entries(protocol.REQUESTS).map(([subtype, spec]) => ({
    subtype,
    from: spec.from,
    about: spec.about,
    params: add(spec.params(), `${pascal(subtype)}Params`),
    result: add(spec.result(), `${pascal(subtype)}Result`),
  }));
  return { registry, names, requests };
}

/** Drops what says nothing: the bounds of safe integers, `propertyNames: string`, ids of the registry. */
function tidy(node) {
  if (Array.isArray(node)) return node.map(tidy);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      if (key === '$schema' || key === '$id' || key === 'id')
        return typeof value === 'string' ? [] : [[key, tidy(value)]];
      if ((key === 'maximum' || key === 'minimum') && Math.abs(value) === Number.MAX_SAFE_INTEGER) return [];
      if (key === 'propertyNames' && value.type === 'string' && Object.keys(value).length === 1) return [];
      return [[key, tidy(value)]];
    }),
  );
}

/** An open union: its members, or something whose key is not the name of one. */
function unionOf(defs, { key, members }, names) {
  const ids = [...new Set(Object.values(members).map((member) => names.get(member())))];
  const properties = { [key]: { type: 'string', not: { enum: Object.keys(members) } } };
  const kinds = new Set(ids.map((id) => defs[id].properties?.type?.const));
  const [kind] = kinds;
  if (key !== 'type' && kinds.size === 1 && kind !== undefined) properties.type = { const: kind };
  return {
    anyOf: [
      ...ids.map((id) => ({ $ref: REF + id })),
      { type: 'object', properties, required: Object.keys(properties) },
    ],
  };
}

/** Name to JSON Schema, with references between them. */
export function definitions(protocol) {
  const { registry, names, requests } = collect(protocol);
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => REF + id,
    override: ({ zodSchema, jsonSchema }) => {
      const whole = protocol.wholeOf(zodSchema);
      if (whole === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.$ref = REF + names.get(whole());
    },
  });
  const defs = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, tidy(schema)]));
  for (const [schema, id] of names) {
    const union = protocol.openUnionOf(schema);
    if (union !== undefined) defs[id] = unionOf(defs, union, names);
  }
  const subtypes = requests.map(({ subtype }) => subtype);
  defs.ControlRequest.properties.request = {
    anyOf: [
      ...requests.map(({ subtype, params }) => ({
        allOf: [
          { type: 'object', properties: { subtype: { const: subtype } }, required: ['subtype'] },
          { $ref: REF + params },
        ],
      })),
      {
        type: 'object',
        properties: { subtype: { type: 'string', not: { enum: subtypes } } },
        required: ['subtype'],
      },
    ],
  };
  return { defs, requests };
}

function references(node, found) {
  if (Array.isArray(node)) for (const item of node) references(item, found);
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.$ref === 'string') found.add(node.$ref.slice(REF.length));
    for (const value of Object.values(node)) references(value, found);
  }
  return found;
}

const byName = ([one], [other]) => (one < other ? -1 : 1);

/** The definitions that the roots need, in the order of their names. */
function reachable(defs, roots) {
  const wanted = new Set();
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (wanted.has(name)) continue;
    if (defs[name] === undefined) throw new Error(`no definition of ${name}`);
    wanted.add(name);
    queue.push(...references(defs[name], new Set()));
  }
  return Object.fromEntries(
    Object.entries(defs)
      .filter(([name]) => wanted.has(name))
      .toSorted(byName),
  );
}

const print = (value) => `${JSON.stringify(value, null, 2)}\n`;

function document(title, defs, roots, rest) {
  return print({ $schema: DRAFT, title, ...rest, $defs: reachable(defs, roots) });
}

/** Fields that the host fills in are none of the model's business, and an empty name is refused anyway. */
function forModel(node) {
  if (Array.isArray(node)) return node.map(forModel);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      if (key === 'minLength' && value === 1) return [];
      if (typeof value === 'object' && value?.['x-host'] === true) return [];
      return [[key, forModel(value)]];
    }),
  );
}

/** The compact schema of each tool input, inline: what the model is sent. */
/** That there is nothing beside is checked when a call comes: a model need not be told of it for every tool. */
const withoutWalls = ({ additionalProperties: _, ...schema }) => schema;

export function toolSchemas(protocol) {
  return Object.fromEntries(
    Object.entries(protocol.TOOL_INPUTS).map(([name, input]) => [
      name,
      withoutWalls(forModel(tidy(z.toJSONSchema(input(), { io: 'input', unrepresentable: 'any' })))),
    ]),
  );
}

const toolModule = (schemas) =>
  [
    '// Generated by scripts/generate.js from tool-input.ts. Do not edit.',
    'export const TOOL_SCHEMAS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {',
    ...Object.entries(schemas).map(([name, schema]) => `  ${name}: ${JSON.stringify(schema)},`),
    '};',
    '',
  ].join('\n');

/** Path in the repository to content. Takes the protocol as an argument, so that a test can pass its sources. */
export function generate(protocol) {
  const { defs, requests } = definitions(protocol);
  const nameOf = new Map(lazySchemas(protocol).map(([name, lazySchema]) => [lazySchema, name]));
  const known = {
    ...protocol.MESSAGES,
    keep_alive: protocol.KeepAlive,
    update_environment_variables: protocol.UpdateEnvironmentVariables,
  };
  const messages = Object.values(known).map((schema) => nameOf.get(schema));
  const unknown = {
    type: 'object',
    properties: { type: { type: 'string', not: { enum: Object.keys(known) } } },
    required: ['type'],
  };
  const envelopes = ['ControlRequest', 'ControlResponse', 'ControlCancelRequest'];
  const tools = Object.entries(protocol.TOOL_INPUTS).map(([name, input]) => [name, nameOf.get(input)]);
  const anyOf = (names) => names.map((name) => ({ $ref: REF + name }));

  return {
    'schema/messages.json': document('Heddle: messages', defs, messages, { anyOf: [...anyOf(messages), unknown] }),
    'schema/control.json': document(
      'Heddle: control requests and answers',
      defs,
      [...envelopes, ...requests.flatMap(({ params, result }) => [params, result])],
      {
        anyOf: anyOf(envelopes),
        $comment: 'Which params and which result belong to a subtype is listed under "requests".',
        requests: Object.fromEntries(
          requests.map(({ subtype, from, params, result }) => [
            subtype,
            { from, params: { $ref: REF + params }, result: { $ref: REF + result } },
          ]),
        ),
      },
    ),
    'schema/settings.json': document('Heddle: settings.json', defs, ['Settings'], { $ref: `${REF}Settings` }),
    'schema/tool-inputs.json': document(
      'Heddle: inputs of the built-in tools, by name',
      defs,
      tools.map(([, name]) => name),
      { type: 'object', properties: Object.fromEntries(tools.map(([tool, name]) => [tool, { $ref: REF + name }])) },
    ),
    'docs/protocol.md': renderPage({ protocol, defs, requests, tools }),
    'src/protocol/tool-schemas.generated.ts': toolModule(toolSchemas(protocol)),
  };
}

/** Paths whose content is not the one that `generate` gives. */
export const stale = (root, files) =>
  Object.entries(files).flatMap(([path, text]) => {
    try {
      return readFileSync(join(root, path), 'utf8') === text ? [] : [path];
    } catch {
      return [path];
    }
  });

async function main() {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  const at = process.argv.indexOf('--dist');
  const dist = at === -1 ? join(root, 'dist') : process.argv[at + 1];
  const files = generate(await import(pathToFileURL(join(dist, 'protocol/index.js')).href));
  const old = stale(root, files);
  if (process.argv.includes('--check')) {
    if (old.length === 0) return;
    console.error(`stale, run npm run generate:\n${old.map((path) => `  ${path}`).join('\n')}`);
    process.exitCode = 1;
    return;
  }
  for (const path of old) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files[path]);
    console.log(`wrote ${path}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
