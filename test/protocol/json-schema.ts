/** Judges values by the JSON Schema we publish: only the keywords that it uses, and an error on any other. */

type Schema = Readonly<Record<string, unknown>>;
type Defs = Readonly<Record<string, Schema>>;

const NOTES = new Set([
  '$schema',
  '$comment',
  '$defs',
  'title',
  'description',
  'examples',
  'default',
  'x-host',
  'requests',
  'format',
]);

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeOf(value) === 'object';

export function accepts(schema: Schema, value: unknown, defs: Defs): boolean {
  const all = (schemas: unknown) => (schemas as Schema[]).map((one) => accepts(one, value, defs));
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : Number.NaN;
  return Object.entries(schema).every(([keyword, rule]) => {
    switch (keyword) {
      case '$ref': {
        const target = defs[String(rule).slice('#/$defs/'.length)];
        if (target === undefined) throw new Error(`no definition: ${String(rule)}`);
        return accepts(target, value, defs);
      }
      case 'anyOf':
      case 'oneOf':
        return all(rule).includes(true);
      case 'allOf':
        return !all(rule).includes(false);
      case 'not':
        return !accepts(rule as Schema, value, defs);
      case 'const':
        return value === rule;
      case 'enum':
        return (rule as unknown[]).includes(value);
      case 'type':
        return [rule].flat().some((type) => type === typeOf(value) || (type === 'integer' && Number.isInteger(value)));
      case 'properties':
        if (!isObject(value)) return true;
        return Object.entries(rule as Defs).every(
          ([name, field]) => !Object.hasOwn(value, name) || accepts(field, value[name], defs),
        );
      case 'required':
        return !isObject(value) || (rule as string[]).every((name) => Object.hasOwn(value, name));
      case 'additionalProperties': {
        if (!isObject(value)) return true;
        const named = Object.keys(schema.properties ?? {});
        const rest = Object.entries(value).filter(([name]) => !named.includes(name));
        return rule === false ? rest.length === 0 : rest.every(([, one]) => accepts(rule as Schema, one, defs));
      }
      case 'items':
        return !Array.isArray(value) || value.every((item) => accepts(rule as Schema, item, defs));
      case 'propertyNames':
        return !isObject(value) || Object.keys(value).every((name) => accepts(rule as Schema, name, defs));
      case 'pattern':
        return typeof value !== 'string' || new RegExp(String(rule), 'u').test(value);
      case 'minItems':
      case 'minLength':
        return !(size < Number(rule));
      case 'maxItems':
        return !(size > Number(rule));
      case 'minimum':
        return typeof value !== 'number' || value >= Number(rule);
      case 'maximum':
        return typeof value !== 'number' || value <= Number(rule);
      case 'exclusiveMinimum':
        return typeof value !== 'number' || value > Number(rule);
      default:
        if (NOTES.has(keyword)) return true;
        throw new Error(`unknown keyword: ${keyword}`);
    }
  });
}
