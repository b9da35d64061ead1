/** Counting the bytes of a port over all its connections. */
import type { OpenPort, PortConnection, PortCounts } from '../../../config/contracts/port.js';
import { Inbox } from './queues.js';

/** An `OpenPort` that counts what its connections carry. */
export type CountedOpenPort = OpenPort & { readonly counts: PortCounts };

/** `open` itself when it counts already; otherwise `open` with counting connections. */
export function countPort(open: OpenPort): CountedOpenPort {
  if (isCounted(open)) return open;
  const counts = newCounts();
  const counted: OpenPort = async (signal) => {
    const connection = await open(signal);
    counts.opens += 1;
    return countingConnection(connection, counts);
  };
  return Object.assign(counted, { counts });
}

export function newCounts(): PortCounts {
  return { rx: 0, tx: 0, opens: 0 };
}

function isCounted(open: OpenPort): open is CountedOpenPort {
  return 'counts' in open;
}

/** Listens from the start, so that bytes that are thrown away unread are counted too. */
function countingConnection(inner: PortConnection, counts: PortCounts): PortConnection {
  const inbox = new Inbox();
  inner.onData((bytes) => {
    counts.rx += bytes.length;
    inbox.deliver(bytes);
  });
  return {
    onData: (listener) => inbox.onData(listener),
    onClose: (listener) => inner.onClose(listener),
    write: (bytes, options) => {
      // Counted first: delivery in memory is synchronous, and the answer must not overtake the question.
      counts.tx += bytes.length;
      const accepted = inner.write(bytes, options);
      if (!accepted) counts.tx -= bytes.length;
      return accepted;
    },
    hold: (on) => inner.hold?.(on),
    fetch: () => inner.fetch?.(),
    setDtr: (on) => inner.setDtr?.(on),
    discardInput: async () => {
      await inner.discardInput();
      inbox.discard();
    },
    close: () => inner.close(),
  };
}
