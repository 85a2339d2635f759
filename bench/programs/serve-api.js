// The fake API: a short answer, or as many deltas as the prompt asks for.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { startFakeApi } = await import(pathToFileURL(join(process.argv[2], 'dist/testing/index.js')).href);

const answer = ({ body }) => {
  const asked = /deltas=(\d+) events-per-write=(\d+)/.exec(JSON.stringify(body.messages));
  if (asked === null) return 'Hello there.';
  const [deltas, eventsPerWrite] = [Number(asked[1]), Number(asked[2])];
  return { text: 'a word '.repeat(deltas), deltas, eventsPerWrite };
};

const api = await startFakeApi([answer], { repeatLast: true });
console.log(api.url);
