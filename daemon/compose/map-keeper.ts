/** Takes over the maps that the robot makes: gives them rooms and a station, and puts them in use or aside. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../config/contracts/clock.js';
import { distance, insidePolygon, type Pose } from '../../config/contracts/geometry.js';
import type { Log } from '../../config/contracts/log.js';
import type { MappedGround } from '../../config/contracts/mapping.js';
import { loadMapBundle, mapBundle } from '../../drivers/amr/map/bundle.js';
import { carryRooms } from '../../drivers/amr/map/carry-rooms.js';
import { DEFAULT_SEGMENTS, segmentRooms } from '../../drivers/amr/map/segment-rooms.js';
import type { MapBundle, Room, Station } from '../../drivers/amr/types.js';
import type { MapKeeper } from '../../state-machines/mapping/types.js';
import type { MapStore } from '../maps/map-store.js';
import type { MapInUse } from './map.js';
import type { MapChanges } from './map-changes.js';

export interface MapKeeperDeps {
  stateDir: string;
  map: MapInUse;
  changes: MapChanges;
  store: MapStore;
  clock: Clock;
  log: Log;
  /** Of the robot, m. */
  radius: number;
}

export function createMapKeeper(deps: MapKeeperDeps): MapKeeper {
  const { changes, store, clock, log } = deps;
  return {
    makeFolder() {
      const drafts = join(deps.stateDir, 'maps', 'drafts');
      // What a crash left is of no use: the map that it belonged to is gone.
      rmSync(drafts, { recursive: true, force: true });
      mkdirSync(drafts, { recursive: true });
      return mkdtempSync(join(drafts, 'm-'));
    },
    async takeOver(folder, ground) {
      const bundle = furnished(deps, folder, ground);
      const { mapId, rooms, observedAtMs } = await changes.install(bundle);
      log.info({ map: mapId, rooms }, 'the map that was just made is in use');
      return { mapId: mapId ?? bundle.id, rooms, observedAtMs };
    },
    async keep(folder, ground, name) {
      const bundle = furnished(deps, folder, ground);
      store.keepAside(bundle, clock.now(), name);
      return { mapId: bundle.id, rooms: bundle.areas.rooms.length };
    },
    discard(folder) {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch {
        // It is removed before the next one is made.
      }
    },
  };
}

function furnished({ map, radius }: MapKeeperDeps, folder: string, ground: MappedGround): MapBundle {
  const { grid, areas } = loadMapBundle(join(folder, 'map.yaml'));
  const station = ground.station === null ? null : { room: '', pose: ground.station };
  const found = segmentRooms(grid, station, { ...DEFAULT_SEGMENTS, radius });
  const rooms = carryRooms(found, map.bundle?.areas ?? null, ground.bridge);
  return mapBundle(grid, { ...areas, rooms, station: stationIn(rooms, ground.station) });
}

/** A station stands in some room; the nearest one when an outline was drawn too narrow. */
function stationIn(rooms: readonly Room[], pose: Pose | null): Station | null {
  if (pose === null) return null;
  const reach = (room: Room) => Math.min(...room.polygon.map((corner) => distance(corner, pose)));
  // In front of it the robot stands in the room for sure, on it perhaps within the wall.
  const front = { x: pose.x - 0.4 * Math.cos(pose.theta), y: pose.y - 0.4 * Math.sin(pose.theta) };
  const room =
    rooms.find((one) => insidePolygon(front, one.polygon)) ??
    [...rooms].sort((a, b) => reach(a) - reach(b))[0];
  return room === undefined ? null : { room: room.id, pose };
}
