/**
 * The infrared of a Kobuki station: three emitters light a region to its left, in the middle and to its right, each
 * with a near and a far part; three receivers on the robot look ahead and to both sides. Signals are those of the
 * "Docking IR" sub-payload of the Kobuki documentation; the angles are estimates, as none are published.
 */
import { wrapAngle } from '../../config/contracts/geometry.js';
import { hidden } from '../world/beacon.js';
import { ROBOT } from '../world/layout.js';
import type { World } from '../world/world.js';

const NEAR = { left: 0x01, center: 0x02, right: 0x04 } as const;
const FAR = { left: 0x10, center: 0x08, right: 0x20 } as const;

const DEG = Math.PI / 180;
/** The middle region reaches this far to both sides, and the outer ones this far, rad. */
const CENTER = 5 * DEG;
const OUTER = 40 * DEG;
/** m */
const NEAR_REACH = 0.6;
const REACH = 2.0;
/** The receivers sit together behind the front of the bumper, m from the middle. */
const RECEIVER_AHEAD = ROBOT.radius - 0.02;
/** Where each receiver looks, rad from ahead, and how far to both sides of that it sees. */
const RECEIVERS = { right: -60 * DEG, center: 0, left: 60 * DEG } as const;
const FIELD = 50 * DEG;

export interface DockingIr {
  right: number;
  center: number;
  left: number;
}

const NONE: DockingIr = { right: 0, center: 0, left: 0 };

/** What the three receivers get now. */
export function dockingIr(world: World): DockingIr {
  const { layout, body, station } = world;
  if (layout.dock === null || !station.powered || !body.powered || station.infrared === 'off') return NONE;
  const { face } = layout.dock;
  const x = body.pose.x + RECEIVER_AHEAD * Math.cos(body.pose.theta);
  const y = body.pose.y + RECEIVER_AHEAD * Math.sin(body.pose.theta);
  const dx = x - face.x;
  const dy = y - face.y;
  const distance = Math.hypot(dx, dy);
  const outwards = Math.atan2(dy, dx);
  const azimuth = wrapAngle(outwards - face.theta);
  if (distance > REACH || Math.abs(azimuth) > OUTER) return NONE;
  if (hidden(layout, face, dx, dy, distance, world.visitors.things)) return NONE;
  const side = station.infrared === 'mirrored' ? -azimuth : azimuth;
  const region = Math.abs(azimuth) <= CENTER ? 'center' : side > 0 ? 'left' : 'right';
  const signal = distance <= NEAR_REACH ? NEAR[region] : FAR[region];
  const bearing = wrapAngle(outwards + Math.PI - body.pose.theta);
  const seenBy = (middle: number) => (Math.abs(wrapAngle(bearing - middle)) <= FIELD ? signal : 0);
  return {
    right: seenBy(RECEIVERS.right),
    center: seenBy(RECEIVERS.center),
    left: seenBy(RECEIVERS.left),
  };
}
