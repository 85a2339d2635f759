import { describe, expect, it } from 'vitest';
import {
  createView,
  type Kind,
  type MountPlan,
  type Places,
  planMounts,
  type View,
} from '../../src/engine/sandbox/mounts.js';
import { createRandom } from '../soak/random.js';

const nothing: Places = {
  writable: [],
  openers: [],
  denied: [],
  protected: [],
  hidden: [],
  veiled: [],
  shown: [],
  temporary: '/tmp',
  scratch: '/tmp/own',
};

const isFolder = (): Kind => 'folder';

const show = ({ mounts }: MountPlan): string[] => mounts.map(({ view, path }) => `${view} ${path}`);

describe('how a path is seen', () => {
  it.each<[string, Partial<Places>, string, View]>([
    ['can only be read by default', {}, '/etc/passwd', 'read-only'],
    ['a working directory can be written', { writable: ['/p'] }, '/p/a/b', 'writable'],
    ['a name that begins alike is another', { writable: ['/p'] }, '/pq', 'read-only'],
    ['a denied folder cannot be written', { writable: ['/p'], denied: ['/p/a'] }, '/p/a/b', 'read-only'],
    ['what is denied is not opened below', { writable: ['/p', '/p/a/b'], denied: ['/p/a'] }, '/p/a/b', 'read-only'],
    [
      'what is protected is not opened by writing',
      { writable: ['/p', '/p/a/b'], protected: ['/p/a'] },
      '/p/a/b',
      'read-only',
    ],
    [
      'but by a working directory below',
      { writable: ['/p/a/b'], openers: ['/p/a/b'], protected: ['/p/a'] },
      '/p/a/b',
      'writable',
    ],
    ['not by one that is the same', { writable: ['/p'], openers: ['/p'], protected: ['/p'] }, '/p/x', 'read-only'],
    ['the deeper of hidden and shown counts', { hidden: ['/h'], writable: ['/h/p'] }, '/h/p/x', 'writable'],
    ['the other way round, too', { hidden: ['/h/p/s'], writable: ['/h/p'] }, '/h/p/s/x', 'hidden'],
    ['of equals the hidden one', { hidden: ['/p'], writable: ['/p'], shown: ['/p'] }, '/p', 'hidden'],
    ['folders of the system are hidden', { veiled: ['/run'] }, '/run/docker.sock', 'hidden'],
    ['unless something names them', { veiled: ['/run'], shown: ['/run/a.sock'] }, '/run/a.sock', 'read-only'],
    ['or is them', { veiled: ['/run'], writable: ['/run'] }, '/run/x', 'writable'],
    ['the temporary folder is its own', {}, '/tmp/x', 'private'],
    ['by the name that it has outside, too', {}, '/tmp/own/x', 'writable'],
    ['whatever settings deny', { denied: ['/', '/tmp/own'], hidden: ['/tmp', '/tmp/own'] }, '/tmp/own/x', 'writable'],
    ['unless it is allowed itself', { writable: ['/tmp'] }, '/tmp/x', 'writable'],
  ])('%s', (_, places, path, view) => {
    expect(createView({ ...nothing, ...places })(path)).toBe(view);
  });
});

describe('the mounts', () => {
  it('are made where the view changes, outer ones first', () => {
    const places = { ...nothing, writable: ['/h/p'], denied: ['/h/p/no'], hidden: ['/h'], veiled: ['/run'] };
    expect(show(planMounts(places, isFolder))).toEqual([
      'hidden /h',
      'hidden /run',
      'private /tmp',
      'writable /h/p',
      'writable /tmp/own',
      'read-only /h/p/no',
    ]);
  });

  it('pin every folder by whose renaming something could be slipped off', () => {
    const places = { ...nothing, writable: ['/p'], denied: ['/p/a/b/c'] };
    expect(show(planMounts(places, isFolder))).toEqual([
      'writable /p',
      'private /tmp',
      'writable /tmp/own',
      'writable /p/a',
      'writable /p/a/b',
      'read-only /p/a/b/c',
    ]);
  });

  it('put stubs where a name must not come to be, and only there', () => {
    const places = { ...nothing, writable: ['/p'], protected: ['/p/.claude', '/q/.claude'], hidden: ['/p/none'] };
    const plan = planMounts(places, (path) => (/claude|none/.test(path) ? 'absent' : 'folder'));
    expect(show(plan)).toEqual(['writable /p', 'private /tmp', 'stub /p/.claude', 'writable /tmp/own']);
  });

  it('tell which links a command could replace', () => {
    const places = { ...nothing, writable: ['/p'], protected: ['/p/.claude', '/q/.claude'] };
    const plan = planMounts(places, (path) => (path.endsWith('.claude') ? 'link' : 'folder'));
    expect(plan.replaceable).toEqual(['/p/.claude']);
  });

  it('give every path its view, and cannot be slipped off, whatever the settings (seeded)', () => {
    const { next: random } = createRandom(7);
    const names = ['a', 'b', 'c'];
    const paths = names.flatMap((x) => [
      `/${x}`,
      ...names.flatMap((y) => [`/${x}/${y}`, ...names.map((z) => `/${x}/${y}/${z}`)]),
    ]);
    const pick = (): string[] => paths.filter(() => random() < 0.12);
    for (let round = 0; round < 400; round += 1) {
      const places: Places = {
        writable: random() < 0.1 ? ['/', ...pick()] : pick(),
        openers: pick(),
        denied: pick(),
        protected: pick(),
        hidden: pick(),
        veiled: pick(),
        shown: pick(),
        temporary: '/b',
        scratch: '/b/c/a',
      };
      const gone = new Set(paths.filter((path) => path.length > 4 && random() < 0.2));
      const plan = planMounts(places, (path) => (gone.has(path) ? 'absent' : 'folder'));
      const wanted = createView(places);
      const mounted = new Map(plan.mounts.map((mount) => [mount.path, mount]));
      // What the system would do: the innermost mount decides.
      const seen = (path: string): string => {
        for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
          const mount = mounted.get(at);
          if (mount !== undefined) return mount.view === 'stub' ? 'read-only' : mount.view;
        }
        return plan.base;
      };
      const kept = (view: string): string => (view === 'private' ? 'hidden' : view);
      const label = JSON.stringify(places);
      for (const path of paths) {
        const parent = path.slice(0, path.lastIndexOf('/'));
        if (!gone.has(path)) expect(kept(seen(path)), `${path} in ${label}`).toBe(kept(wanted(path)));
        else if (wanted(path) === 'read-only') expect(seen(path), `${path} in ${label}`).not.toBe('writable');
        if (mounted.has(path) && parent !== '' && seen(parent) === 'writable')
          expect(mounted.has(parent), `${parent} above ${path} in ${label}`).toBe(true);
      }
    }
  });
});
