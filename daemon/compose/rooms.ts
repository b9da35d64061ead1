/** The rooms of the map in use, with what the executors ask of them. */
import { Refusal, shown } from '../../config/contracts/errors.js';
import type { Point, Pose } from '../../config/contracts/geometry.js';
import { DEFAULT_INFLATION } from '../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../drivers/amr/costmap/static-costmap.js';
import { RoomCatalogue as RoomNames } from '../../drivers/amr/map/rooms.js';
import type { GoalStatus, MapBundle, Room, RoomResolver, Station } from '../../drivers/amr/types.js';
import type { RoomCatalogue } from '../../executors/services.js';

const WHY: Readonly<Record<Exclude<GoalStatus, 'free' | 'off_map'>, string>> = {
  unknown: 'is in unknown space',
  occupied: 'is in an obstacle, or too close to one for the robot to stand there',
  keepout: 'is in a keep-out area',
};

export class MapRooms implements RoomCatalogue {
  /** Somebody changes the map. */
  changing = false;
  /** The home is being mapped anew. */
  mapping = false;
  readonly #names: RoomResolver;
  readonly #costmap: StaticCostmap;

  /** `robotRadius`: metres. */
  constructor(bundle: MapBundle, robotRadius: number) {
    this.#names = new RoomNames(bundle.areas);
    this.#costmap = new StaticCostmap(bundle, { ...DEFAULT_INFLATION, robotRadius });
  }

  get editable(): boolean {
    return this.changing || this.mapping;
  }
  get rooms(): readonly Room[] {
    return this.#names.rooms;
  }
  get station(): Station | null {
    return this.#names.station;
  }
  byId(id: string): Room | null {
    return this.#names.byId(id);
  }
  resolve(text: string, field?: string): Room {
    return this.#names.resolve(text, field);
  }
  roomAt(point: Point): Room | null {
    return this.#names.roomAt(point);
  }

  checkPose(pose: Pose, field: string): void {
    const status = this.#costmap.statusAt(pose);
    const where = shown({ x: pose.x, y: pose.y });
    if (status === 'off_map') {
      throw new Refusal('INVALID_PARAMS', `${field}: ${where} is off the map`, field);
    }
    if (status !== 'free') {
      throw new Refusal('TARGET_UNREACHABLE', `${field}: ${where} ${WHY[status]}`, field);
    }
  }
}
