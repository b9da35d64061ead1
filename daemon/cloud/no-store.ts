import { Store } from 'mqtt';

/**
 * The library's place for packets without PUBACK, made to keep none: the outbox is the only copy, and a client
 * that was closed must not trip over its own emptied store when late packets of its connection are still worked
 * off (mqtt.js 5.16 throws there).
 */
export class NoStore extends Store {
  override put(_packet: Parameters<Store['put']>[0], done: Parameters<Store['put']>[1]): this {
    done?.();
    return this;
  }

  override del(packet: Parameters<Store['del']>[0], done: Parameters<Store['del']>[1]): this {
    done?.(undefined, { cmd: 'pubrel', messageId: packet.messageId ?? 0 });
    return this;
  }

  override close(done: Parameters<Store['close']>[0]): void {
    done?.();
  }
}
