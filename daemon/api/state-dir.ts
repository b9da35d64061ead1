/** The directory that holds the socket and the token, and the socket itself. */
import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { homedir } from 'node:os';

/** A Unix socket's path has 108 bytes on Linux and 104 on macOS, the last of them a NUL. */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * Makes the state directory private (0700). One that exists is tightened, unless it is plainly not there for
 * this alone (a home, a working directory, `/tmp`); such a directory has to be closed to other users' writing.
 */
export function prepareStateDir(stateDir: string): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(stateDir);
  const own = process.getuid === undefined || process.getuid() === uid;
  const sticky = (mode & 0o1000) !== 0;
  if ((mode & 0o077) === 0 && own) return;
  if (own && !sticky && !isShared(stateDir)) {
    chmodSync(stateDir, 0o700);
    return;
  }
  if (!own || (mode & 0o022) !== 0) {
    throw new Error(`${stateDir}: other users may write here; choose a state directory of its own`);
  }
}

/** A home, the working directory, or a directory above one of them. */
function isShared(dir: string): boolean {
  const real = withSlash(realpathSync(dir));
  return [homedir(), process.cwd()].some((place) => withSlash(place).startsWith(real));
}

function withSlash(dir: string): string {
  return dir.endsWith('/') ? dir : `${dir}/`;
}

/**
 * Listens on the socket, mode 0700. A socket that nobody answers on is left over from a killed daemon and is
 * replaced; one that answers means that a daemon is running here.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_SOCKET_PATH) {
    throw new Error(
      `${path} has ${bytes} bytes, a socket's path at most ${MAX_SOCKET_PATH}; use a shorter state directory`,
    );
  }
  await removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const listening = () => {
      server.removeListener('error', reject);
      resolve();
    };
    // The socket comes into being inside `listen`, with the process's mask: never open to others, not even briefly.
    const mask = process.umask(0o077);
    try {
      server.listen({ path }, listening);
    } finally {
      process.umask(mask);
    }
  });
  chmodSync(path, 0o700);
}

async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} is in the way and is no socket; remove it`);
  if (await isAnswered(path)) {
    throw new Error(`a daemon is already running in this state directory (${path} answers)`);
  }
  unlinkSync(path);
}

/** Whether somebody listens on the Unix socket. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const done = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
