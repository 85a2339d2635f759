import { describe, expect, it } from 'vitest';
import { mcpToolName } from '../../src/engine/mcp/names.js';
import { pluginServerName } from '../../src/engine/plugins/names.js';
import { createPlace, MANIFEST } from './place.js';

describe('names of servers', () => {
  it.each([
    ['garden', 'seeds', 'plugin_garden_seeds'],
    ['my-plugin', 'my server', 'plugin_my-plugin_my_server'],
    ['a', 'x__y', 'plugin_a_x_y'],
    ['a', '@scope/name', 'plugin_a_scope_name'],
    ['a', 'été', 'plugin_a_t'],
  ])('%s and %s', (plugin, server, name) => {
    expect(pluginServerName(plugin, server)).toBe(name);
    // The three parts of the name of a tool can be told apart.
    expect(mcpToolName(name, 'sow').split('__')).toEqual(['mcp', name, 'sow']);
  });
});

describe('servers of a plugin', () => {
  it('come as bare maps, wrapped, inline and from files', async () => {
    const place = createPlace();
    place.write('p/.mcp.json', { a: { command: 'a' } });
    place.write('p/more.json', { mcpServers: { b: { type: 'sse', url: 'https://example.com', extra: 1 } } });
    place.write(`p/${MANIFEST}`, {
      name: 'p',
      mcpServers: ['./more.json', { c: { command: 'c' } }, { mcpServers: { d: { url: 'https://example.com' } } }],
    });
    const { plugins, problems } = await place.load(['p']);
    expect(plugins[0]?.mcpServers).toEqual({
      plugin_p_a: { command: 'a' },
      plugin_p_b: { type: 'sse', url: 'https://example.com', extra: 1 },
      plugin_p_c: { command: 'c' },
      plugin_p_d: { type: 'http', url: 'https://example.com' },
    });
    expect(place.show(problems)).toEqual([
      `warning p/${MANIFEST}:12 "d": it has "url" and no "type"; "type": "http" is taken`,
    ]);
  });

  it('that cannot be used are left out, with their lines', async () => {
    const place = createPlace();
    place.write('p/.mcp.json', {
      none: {},
      text: 'node x.js',
      list: { command: ['node'] },
      args: { command: 'node', args: [1] },
      sdk: { type: 'sdk', name: 'x' },
      odd: { type: 'carrier-pigeon', url: 'x' },
      'a\u0000b': { command: 'x' },
      good: { command: 'x' },
    });
    place.write('q/.mcp.json', '[1]');
    const { plugins, problems } = await place.load(['p', 'q']);
    expect(plugins.map(({ mcpServers }) => Object.keys(mcpServers))).toEqual([['plugin_p_good'], []]);
    expect(place.show(problems).map((line) => line.replace('/.mcp.json', ''))).toEqual([
      'error p:2 "none": a server needs "command" or "url"',
      'error p:3 "text": a server must be an object with "command" or "url"',
      'error p:5 "list": command: Invalid input: expected string, received array',
      'error p:12 "args": args[0]: Invalid input: expected string, received number',
      'error p:15 "sdk": servers of type "sdk" live in a program, and a plugin cannot bring one',
      expect.stringMatching(/^error p:20 "odd": type: /),
      'error p:23 "a\\u0000b": this is no name for a server; use letters, digits and hyphens',
      'error q:1 servers must be an object of names to servers',
    ]);
  });
});
