import { describe, expect, it } from 'vitest';
import { createExclusion } from '../../src/engine/sandbox/excluded.js';
import { describeSandbox, type SandboxFacts, toHint } from '../../src/engine/sandbox/hint.js';
import { parseSockets, withoutSockets } from '../../src/engine/sandbox/sockets.js';

const facts: SandboxFacts = { writable: ['/p'], hidden: [], mayLeave: true };

describe('the hint after a failed command', () => {
  it.each([
    ['touch: cannot touch /x: Read-only file system', /only in \/p/],
    ['Error: EROFS: read-only file system, open', /only in \/p/],
    ["mv: cannot move '.git': Device or resource busy", /only in \/p/],
    ['curl: (6) Could not resolve host: example.com', /no network/],
    ['getaddrinfo EAI_AGAIN example.com', /no network/],
    ['curl: (56) CONNECT tunnel failed, response 403', /no network/],
    ['sudo: The "no new privileges" flag is set', /privileges/],
    ['bwrap: Can not mkdir parents', /did not run/],
  ])('%s', (output, expected) => {
    expect(toHint(facts, output, 1)).toMatch(expected);
    expect(toHint(facts, output, 0)).toBeUndefined();
  });

  it.each(['command not found', 'Permission denied', 'HTTP 403', 'npm ERR! missing script'])(
    'none for %s',
    (output) => {
      expect(toHint(facts, output, 1)).toBeUndefined();
    },
  );

  it('names what is hidden when something is', () => {
    expect(toHint({ ...facts, hidden: ['~/.ssh'] }, 'cat: x: Permission denied', 1)).toContain('~/.ssh');
  });

  it('says how to leave the sandbox only where that is possible', () => {
    expect(toHint(facts, 'EROFS', 1)).toContain('dangerouslyDisableSandbox');
    expect(toHint({ ...facts, mayLeave: false }, 'EROFS', 1)).toContain('cannot leave');
  });
});

describe('the description', () => {
  it('says what may be written, what is hidden and what can be reached', () => {
    expect(describeSandbox({ ...facts, hidden: ['~/.ssh'], domains: ['example.com', 'not x.example.com'] })).toMatch(
      /only in \/p .* cannot read ~\/\.ssh\. .* reach only example\.com, not x\.example\.com/,
    );
  });
});

describe('excluded commands', () => {
  const isExcluded = createExclusion(['docker', 'npm run deploy:*', 'git push *', '*', '']);

  it.each(['docker', 'docker ps -a', 'npm run deploy', 'npm run deploy prod', 'git push origin main'])(
    '%s',
    (command) => {
      expect(isExcluded(command)).toBe(true);
    },
  );

  it.each([
    'docker ps; rm x',
    'docker ps\nrm x',
    'docker $(rm x)',
    'docker ps | sh',
    'docker "ps"',
    'X=1 docker ps',
    './docker ps',
    'dockerx',
    'npm run build',
    'git pull',
    'sudo docker',
    '',
  ])('not %j', (command) => {
    expect(isExcluded(command)).toBe(false);
  });
});

describe('sockets', () => {
  it('are found by their path, whatever it holds', () => {
    const table = [
      'Num       RefCount Protocol Flags    Type St Inode Path',
      '0000000000000000: 00000002 00000000 00010000 0001 01 100 /run/a.sock',
      '0000000000000000: 00000002 00000000 00010000 0001 01 101 @abstract',
      '0000000000000000: 00000003 00000000 00000000 0001 03 102',
      '0000000000000000: 00000002 00000000 00000000 0002 01 103 /a b/c',
      '0000000000000000: 00000003 00000000 00000000 0001 03 104 /run/a.sock',
    ].join('\n');
    expect(parseSockets(table)).toEqual(['/run/a.sock', '/a b/c']);
  });

  it('are not named in the environment of a command that cannot use them', () => {
    const env = {
      PATH: '/bin',
      SSH_AUTH_SOCK: '/tmp/agent',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1/bus,guid=1',
      XDG_RUNTIME_DIR: '/run/user/1',
    };
    expect(withoutSockets(env, () => false)).toEqual({ PATH: '/bin' });
    expect(withoutSockets(env, (path) => path === '/run/user/1/bus')).toEqual({
      PATH: '/bin',
      DBUS_SESSION_BUS_ADDRESS: env.DBUS_SESSION_BUS_ADDRESS,
    });
    expect(withoutSockets(env, () => true)).toEqual(env);
  });
});
