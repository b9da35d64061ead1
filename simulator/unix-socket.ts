/** Unix sockets that carry one JSON object a line. */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Listens on `path`; a socket left there by a simulation that was killed is replaced. */
export async function listenOn(path: string, serve: (socket: Socket) => void): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer(serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return server;
}

/** Resolves once every connection has ended; the caller ends those it still has. */
export function closeServer(server: Server | null): Promise<void> {
  return new Promise((resolve) => {
    if (server === null) resolve();
    else server.close(() => resolve());
  });
}

export function onLines(socket: Socket, onLine: (line: string) => void): void {
  socket.on('error', () => socket.destroy());
  const lines = createInterface({ input: socket });
  // The interface repeats the socket's errors, which end the connection anyway.
  lines.on('error', () => socket.destroy());
  lines.on('line', onLine);
}
