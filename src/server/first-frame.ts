/** Looks at the first frame of a channel before anyone serves it. */
import type { Channel, Frame, FrameSink } from '../protocol/index.js';

export interface HeldChannel {
  /** Delivers everything, the first frame included, to whoever receives. */
  channel: Channel;
  /** The first frame; undefined when the channel ended without one. */
  first: Frame | undefined;
}

/** Frames for which `isAllowed` is false are dropped. */
export function awaitFirstFrame(channel: Channel, isAllowed: (frame: Frame) => boolean): Promise<HeldChannel> {
  const kept: ((sink: FrameSink) => void)[] = [];
  let sink: FrameSink | undefined;
  const pass = (call: (sink: FrameSink) => void): void => {
    if (sink === undefined) kept.push(call);
    else call(sink);
  };
  const held: Channel = {
    trusted: channel.trusted,
    final: channel.final,
    get buffered() {
      return channel.buffered;
    },
    receive(receiver) {
      sink = receiver;
      for (const call of kept.splice(0)) call(receiver);
    },
    send: (frame) => channel.send(frame),
    drained: (limit) => channel.drained(limit),
    end: () => channel.end(),
    close: (reason) => channel.close(reason),
  };
  return new Promise((resolve) => {
    channel.receive({
      frame(frame) {
        if (!isAllowed(frame)) return;
        pass((to) => to.frame(frame));
        resolve({ channel: held, first: frame });
      },
      end(error) {
        pass((to) => to.end(error));
        resolve({ channel: held, first: undefined });
      },
      closed: (reason) => pass((to) => to.closed?.(reason)),
      backlog: () => sink?.backlog?.() ?? { size: 0, belowLimit: () => Promise.resolve() },
    });
  });
}
