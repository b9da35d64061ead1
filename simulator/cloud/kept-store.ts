import { Store } from 'mqtt';

/**
 * The library's memory of unacknowledged publishes, except that closing does not take it away: packets that were
 * already parsed when the client ended are still looked up in it (mqtt.js 5.16 throws otherwise).
 */
export class KeptStore extends Store {
  override close(done: Parameters<Store['close']>[0]): void {
    done?.();
  }
}
