/** The motion process inline, on a simulated clock, with a Create 2 at the other end of a line in memory. */
import type { ActionUpdate, AmrEvent, MotionAction, RobotState } from '../../../config/contracts/amr.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { memoryLine } from '../../../config/contracts/port.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { type DaemonEnd, memoryChannel } from '../../../drivers/rt/channel.js';
import { RtHost, type RtHostOptions } from '../../../drivers/rt/host.js';
import type { StoredPose } from '../../../drivers/rt/pose-file.js';
import { Create2Base } from '../../../drivers/serial/create2/create2-base.js';
import { Create2Peer } from './create2-peer.js';
import { ManualLidar } from './manual-lidar.js';
import { ScriptedNavigator } from './scripted-navigator.js';

export const BODY = {
  radius: 0.17,
  wheelBase: 0.235,
  maxWheelSpeed: 0.5,
  maxSpeed: 0.35,
  maxTurn: 1.2,
  maxAccel: 0.5,
  maxDecel: 1,
  maxTurnAccel: 4,
};
export const DRIVE: MotionAction = {
  kind: 'followPath',
  path: [{ x: 0, y: 0, theta: 0 }],
  goal: { x: 10, y: 0, theta: 0 },
  tolerance: { xy: 0.1, theta: 0.1 },
  maxSpeed: 0.3,
};
/** A stop as it stands on the line: Drive Direct with both wheels 0. */
export const STOP = 'drive 0 0';

export class Rig {
  readonly clock = new SimClock(1_790_000_000_000);
  readonly line = memoryLine('base');
  readonly peer: Create2Peer;
  readonly lidar: ManualLidar;
  readonly navigator = new ScriptedNavigator();
  readonly client: RtClient;
  readonly host: RtHost;
  readonly channel: DaemonEnd;
  readonly events: AmrEvent[] = [];
  readonly lost: string[] = [];
  readonly savedEstops: RtHostOptions['estop'][] = [];
  readonly poses: StoredPose[] = [];
  readonly latchedWithoutRt: string[] = [];
  /** How many of the next attempts to write the e-stop down fail. */
  failSaves = 0;

  constructor(options: Partial<RtHostOptions> = {}) {
    this.peer = new Create2Peer(this.line.device, this.clock);
    this.lidar = new ManualLidar(this.clock);
    const channel = memoryChannel();
    this.channel = channel.daemon;
    this.client = new RtClient({
      clock: this.clock,
      log: SILENT_LOG,
      heartbeat: 'on_clock',
      latchEstop: async (by) => {
        this.latchedWithoutRt.push(by);
      },
    });
    this.client.subscribe((event) => this.events.push(event));
    this.host = new RtHost({
      clock: this.clock,
      channel: channel.rt,
      base: new Create2Base({ open: this.line.open, clock: this.clock, random: () => 0.5 }),
      lidar: this.lidar,
      navigator: this.navigator,
      bootId: 'rt-test',
      pid: 1,
      body: BODY,
      estopButtons: 1,
      estop: { latched: false, by: null, at: null },
      saveEstop: async (estop) => {
        if (this.failSaves > 0) {
          this.failSaves -= 1;
          throw new Error('no space left on device');
        }
        this.savedEstops.push(estop);
      },
      loadMap: (mapYaml) => {
        if (!mapYaml.endsWith('good.yaml')) throw new Error('no such file');
        return {
          id: 'm-good',
          grid: {
            width: 0,
            height: 0,
            resolution: 0.05,
            origin: { x: 0, y: 0, theta: 0 },
            cells: new Int8Array(),
          },
          areas: { rooms: [], station: null, keepout: [], speedAreas: [] },
        };
      },
      poses: {
        load: () => this.poses.at(-1) ?? null,
        save: async (pose) => this.poses.push(pose) > 0,
        forget: () => void this.poses.splice(0),
        saveNow: (pose) => this.poses.push(pose) > 0,
      },
      onChannelLost: (reason) => this.lost.push(reason),
      ...options,
    });
  }

  /** Connected, heartbeats, frames and scans coming in, everything at rest. */
  async start(): Promise<this> {
    this.client.attach(this.channel);
    this.host.start();
    await this.run(1000);
    return this;
  }

  async run(ms: number): Promise<void> {
    await this.clock.advanceAsync(ms);
  }

  /** Started and at full speed. */
  async drive(id = 'a-1', action: MotionAction = DRIVE, fence = 1): Promise<void> {
    const started = this.client.start(id, action, fence);
    await settle();
    await started;
    await this.run(1500);
  }

  state(): RobotState {
    const state = this.client.state();
    if (state === null) throw new Error('no state was reported');
    return state;
  }

  updates(status?: ActionUpdate['status']): ActionUpdate[] {
    return this.events.flatMap((e) =>
      e.type === 'action' && (status === undefined || e.update.status === status) ? [e.update] : [],
    );
  }

  /** Wheel commands that arrived from now on. */
  drivesSince(mono: number) {
    return this.peer.drives().filter((d) => d.mono >= mono);
  }

  async close(): Promise<void> {
    const ended = this.host.shutdown('test over');
    await this.run(1000);
    await ended;
    this.peer.close();
  }
}
