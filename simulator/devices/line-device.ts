/** What all simulated devices have alike: the line they speak on, and its plug. */
import type { Device, DeviceEnd, DeviceFaults, DeviceName, Received, WorldPart } from '../types.js';
import type { World } from '../world/world.js';
import { Line } from './line.js';

export abstract class LineDevice implements Device, WorldPart {
  abstract readonly name: DeviceName;
  readonly line: Line;

  /** `noise` names the line's own generator of random numbers. */
  protected constructor(world: World, end: DeviceEnd, baud: number, noise: string) {
    this.line = new Line(end, baud, world.random(noise), () => world);
  }

  get end(): DeviceEnd {
    return this.line.end;
  }
  get faults(): DeviceFaults {
    return this.line.faults;
  }
  get received(): readonly Received[] {
    return this.line.received;
  }
  last(what: string): Received | null {
    return this.line.last(what);
  }

  unplug(): void {
    this.line.clear();
    this.end.unplug();
  }

  plug(): void {
    this.end.plug();
  }

  begin(): void {
    this.line.begin();
  }

  abstract before(dtMs: number): void;
  abstract after(dtMs: number): void;

  flush(): void {
    this.line.flush();
  }
}
