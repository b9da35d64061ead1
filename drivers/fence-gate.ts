/** The check of fencing tokens that every driver makes of whoever sets something in motion. */
import { Refusal } from '../config/contracts/errors.js';

/**
 * A lease is granted under a token that only grows. A run that lost its lease, or died with an earlier process, may
 * still make a call: with its older token it is refused, once the driver has seen a newer one. Stops carry no token
 * and are never refused.
 */
export class FenceGate {
  readonly #resource: string;
  #newest = Number.NEGATIVE_INFINITY;
  #stale = 0;

  /** `resource`: the lease's, for the message. */
  constructor(resource: string) {
    this.#resource = resource;
  }

  /** Calls refused so far. */
  get stale(): number {
    return this.#stale;
  }

  /** Throws `Refusal` RESOURCE_BUSY for a token older than one seen before, and for none at all. */
  admit(fence: number | undefined): void {
    if (fence !== undefined && fence >= this.#newest) {
      this.#newest = fence;
      return;
    }
    this.#stale += 1;
    throw new Refusal(
      'RESOURCE_BUSY',
      fence === undefined
        ? `a fencing token of the ${this.#resource} lease is needed`
        : `fence ${fence} is older than ${this.#newest}: the ${this.#resource} lease has moved on`,
    );
  }
}
