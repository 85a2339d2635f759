/** `${VAR}` and `${VAR:-default}` in what a server is started or reached with. */
import { hasAddress } from '../server-kind.js';
import type { ServerConfig } from './entry.js';

export interface Lookup {
  env: Readonly<Record<string, string>>;
  /** Variables that this server must never be given, whoever approves it. */
  isWithheld(name: string): boolean;
}

export interface ExpansionFault {
  path: readonly (string | number)[];
  variable: string;
  text: string;
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** A variable that is set to nothing counts as not set where there is a default, as in a shell. */
export function expandServer(config: ServerConfig, lookup: Lookup): { config: ServerConfig; faults: ExpansionFault[] } {
  const faults: ExpansionFault[] = [];
  const expand = (text: string, path: readonly (string | number)[]): string =>
    text.replace(VARIABLE, (_, variable: string, fallback: string | undefined) => {
      const found = Object.hasOwn(lookup.env, variable) ? lookup.env[variable] : undefined;
      if (lookup.isWithheld(variable)) {
        if (fallback !== undefined) return fallback;
        faults.push({ path, variable, text: describeWithheld(variable) });
        return '';
      }
      if (fallback !== undefined) return found || fallback;
      if (found === undefined) faults.push({ path, variable, text: describeMissing(variable) });
      return found ?? '';
    });
  return { config: mapTexts(config, expand), faults };
}

const describeWithheld = (variable: string): string =>
  `\${${variable}} is a credential of the engine itself, which no file of a project gets`;

const describeMissing = (variable: string): string =>
  `the variable ${variable} is not set. Set it, or write \${${variable}:-default}`;

/** The variables that an entry names, in the order of their first use. */
export function variablesOf(config: ServerConfig): string[] {
  const names = new Set<string>();
  mapTexts(config, (text) => {
    for (const [, name] of text.matchAll(VARIABLE)) if (name !== undefined) names.add(name);
    return text;
  });
  return [...names];
}

type MapText = (text: string, path: readonly (string | number)[]) => string;

function mapTexts(config: ServerConfig, map: MapText): ServerConfig {
  const table = (key: string, texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, map(text, [key, name])]));
  if (hasAddress(config)) {
    const { url, headers } = config;
    return { ...config, url: map(url, ['url']), ...(headers && { headers: table('headers', headers) }) };
  }
  const { command, args, env } = config;
  return {
    ...config,
    command: map(command, ['command']),
    ...(args && { args: args.map((arg, at) => map(arg, ['args', at])) }),
    ...(env && { env: table('env', env) }),
  };
}
