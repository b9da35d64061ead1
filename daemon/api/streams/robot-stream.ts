/** State, scan and path for displays. A frame replaces the one before, so a slow client simply gets fewer. */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import type { Runtime } from '../../runtime.js';
import type { ApiCounters } from '../counters.js';
import { viewPath, viewRobot, viewScan } from '../robot-view.js';
import type { Caller } from '../types.js';
import { StreamClients } from './clients.js';
import type { RobotMessage } from './messages.js';
import { OPEN, type StreamSocket } from './socket.js';

const FRAME_EVERY_MS = 200;
/** A frame is at most some tens of kilobytes; one that still waits means that this client is behind. */
const BEHIND_BYTES = 64 * 1024;

export interface RobotStreamParts {
  runtime: Runtime;
  clock: Clock;
  counters: ApiCounters;
}

/** What this client was shown last, to leave out what did not change. */
interface Viewer {
  socket: StreamSocket;
  scanAt: number | null | undefined;
  path: string;
}

interface Frame {
  message: RobotMessage;
  scanAt: number | null;
  path: string;
}

export class RobotStream {
  readonly #parts: RobotStreamParts;
  readonly #clients: StreamClients<Viewer>;
  #stop: CancelTimer | null = null;

  constructor(parts: RobotStreamParts) {
    this.#parts = parts;
    this.#clients = new StreamClients(parts.clock, parts.counters, {
      first: () => {
        this.#stop = parts.clock.every(FRAME_EVERY_MS, () => this.#tick());
      },
      last: () => {
        this.#stop?.();
        this.#stop = null;
      },
    });
  }

  get full(): boolean {
    return this.#clients.full;
  }

  follow(socket: StreamSocket, caller: Caller): void {
    const viewer: Viewer = { socket, scanAt: undefined, path: '' };
    this.#clients.add(viewer, socket, caller);
    this.#show(viewer, this.#frame());
  }

  closeAll(): void {
    this.#clients.closeAll();
  }

  #tick(): void {
    const frame = this.#frame();
    for (const viewer of this.#clients.keys()) this.#show(viewer, frame);
  }

  #frame(): Frame {
    const { runtime } = this.#parts;
    const state = runtime.amr.state();
    const { scan, path } = runtime.amr.view();
    const points = viewPath(path);
    return {
      message: {
        type: 'robot',
        now_ms: runtime.clock.now(),
        state: state === null ? null : viewRobot(state),
        scan: scan === null ? null : viewScan(scan),
        path: points,
      },
      scanAt: scan?.at ?? null,
      path: JSON.stringify(points),
    };
  }

  #show(viewer: Viewer, frame: Frame): void {
    if (viewer.socket.readyState !== OPEN) return;
    if (viewer.socket.bufferedAmount > BEHIND_BYTES) {
      this.#parts.counters.streamDropped += 1;
      return;
    }
    const { scan, path, ...rest } = frame.message;
    const message: RobotMessage = {
      ...rest,
      ...(viewer.scanAt === frame.scanAt || scan === undefined ? {} : { scan }),
      ...(viewer.path === frame.path || path === undefined ? {} : { path }),
    };
    viewer.scanAt = frame.scanAt;
    viewer.path = frame.path;
    viewer.socket.send(JSON.stringify(message), () => {});
  }
}
