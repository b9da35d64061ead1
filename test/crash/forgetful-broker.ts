/**
 * A broker that loses its sessions loses what it had acknowledged and not delivered: nobody can get that back but the
 * one who sent it. So the cloud sends again what was not answered, once the robot listens to the new broker.
 */
import type { CommandBook } from './command-book.js';
import { sleep } from './waiting.js';

/** From `online` until the robot's subscription has reached the broker, ms. */
export const SUBSCRIBED_MS = 500;

export class ForgetfulBroker {
  readonly #commands: CommandBook;
  readonly #publish: (text: string) => void;
  /** Commands that the broker may have lost. */
  readonly #suspects = new Set<string>();
  /** From the loss until the robot listens again everything may be lost. */
  #losing = false;

  constructor(commands: CommandBook, publish: (text: string) => void) {
    this.#commands = commands;
    this.#publish = publish;
  }

  /** To be called when the broker has lost its sessions. */
  forgot(): void {
    this.#losing = true;
    this.#suspectTheUnanswered();
  }

  /** To be called when the robot says that it is there. */
  async online(): Promise<void> {
    if (!this.#losing && this.#suspects.size === 0) return;
    await sleep(SUBSCRIBED_MS);
    if (this.#losing) this.#suspectTheUnanswered();
    this.#losing = false;
    for (const { id, text } of this.#commands.unanswered) if (this.#suspects.has(id)) this.#publish(text);
  }

  #suspectTheUnanswered(): void {
    for (const { id } of this.#commands.unanswered) this.#suspects.add(id);
  }
}
