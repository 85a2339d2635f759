import type { Redirection as RedirectionNode } from 'unbash';
import type { Redirection } from './reading.js';
import { expandWord, isLiteralWord, type ShellWord, type WordView } from './word.js';

/** The shell that runs a line keeps descriptors from ten on for itself. */
const OWN_DESCRIPTOR = 10;
const DUPLICATE = /^(?:\d-?|-)$/;
const SOCKET = /^\/+dev\/+(?:tcp|udp)\//;
const STREAM = /^\/dev\/(?:null|stdin|stdout|stderr|fd\/[0-9])$/;

/** What one redirection opens; undefined for here-documents and for descriptors alone. */
export function toRedirection(
  node: RedirectionNode,
  view: WordView,
  folders: readonly string[] | undefined,
): Redirection | undefined {
  if (node.type !== 'Redirect') return undefined;
  const { operator, descriptor } = node;
  const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : 0;
  if (number >= OWN_DESCRIPTOR) view.doubt('it uses a descriptor of the shell that runs it');
  const words = node.target === undefined ? [] : expandWord(node.target, view);
  const target = words.length === 1 && words[0]?.splits === false ? words[0] : undefined;
  if ((operator === '>&' || operator === '<&') && target !== undefined) {
    if (isLiteralWord(target) && DUPLICATE.test(target.value)) return undefined;
    if (/^\d+-?$/.test(target.value)) {
      view.doubt('it uses a descriptor of the shell that runs it');
      return undefined;
    }
  }
  const reads = operator === '<' || operator === '<>' || operator === '<&';
  const writes = operator !== '<' && operator !== '<&';
  const connects = target === undefined || SOCKET.test(target.value);
  return isStream(target)
    ? undefined
    : {
        operator,
        target,
        ...(target === undefined && words.length === 1 && { text: words[0]?.value }),
        reads,
        writes,
        connects: connects && target !== undefined,
        folders,
      };
}

const isStream = (target: ShellWord | undefined): boolean => target !== undefined && STREAM.test(target.value);
