import { createServer } from 'node:net';

/** `preferred` where it is free on loopback, otherwise any port that is. */
export async function freePort(preferred: number): Promise<number> {
  return (await tryPort(preferred)) ?? (await tryPort(0)) ?? 0;
}

export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== null;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const found = address !== null && typeof address === 'object' ? address.port : null;
      server.close(() => resolve(found));
    });
  });
}
