import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rosPose, type TransformStamped, toStamp } from '../../../drivers/ros2/messages.js';
import { TransformBuffer } from '../../../drivers/ros2/transforms.js';

const link = (
  parent: string,
  child: string,
  at: number,
  x: number,
  y: number,
  theta: number,
): TransformStamped => {
  const { position, orientation } = rosPose({ x, y, theta });
  return {
    header: { stamp: toStamp(at), frame_id: parent },
    child_frame_id: child,
    transform: { translation: position, rotation: orientation },
  };
};
const buffer = () => new TransformBuffer({ keepMs: 5_000, extrapolateMs: 500 });

describe('the transform buffer', () => {
  it('interpolates between two times, across the wrap of an angle', () => {
    const tf = buffer();
    tf.add(link('odom', 'base_link', 1000, 0, 0, 3.1), false);
    tf.add(link('odom', 'base_link', 1100, 1, 0, -3.1), false);
    const found = tf.lookup('odom', 'base_link', 1050);
    expect(found.ok && found.pose.x).toBeCloseTo(0.5);
    expect(found.ok && Math.abs(found.pose.theta)).toBeCloseTo(Math.PI, 2);
  });

  it('takes the newest a little beyond it, and nothing further', () => {
    const tf = buffer();
    tf.add(link('odom', 'base_link', 1000, 1, 0, 0), false);
    expect(tf.lookup('odom', 'base_link', 1400).ok).toBe(true);
    expect(tf.lookup('odom', 'base_link', 1600)).toMatchObject({ ok: false });
  });

  it('goes through chains up and down, fixed and moving', () => {
    const tf = buffer();
    tf.add(link('map', 'odom', 1400, 10, 0, 0), false);
    tf.add(link('odom', 'base_link', 1000, 0, 5, Math.PI / 2), false);
    tf.add(link('base_link', 'laser', 0, 0.2, 0, 0), true);
    const found = tf.lookup('map', 'laser', null);
    expect(found.ok && found.pose.x).toBeCloseTo(10);
    expect(found.ok && found.pose.y).toBeCloseTo(5.2);
    expect(tf.lookup('map', 'nowhere', null)).toMatchObject({
      ok: false,
      why: expect.stringContaining('nowhere'),
    });
  });

  it('sees a lidar that hangs upside down mirrored', () => {
    const tf = buffer();
    const hung = link('base_link', 'laser', 0, 0, 0, 0);
    tf.add({ ...hung, transform: { ...hung.transform, rotation: { x: 1, y: 0, z: 0, w: 0 } } }, true);
    expect(tf.lookup('base_link', 'laser', null)).toMatchObject({ ok: true, flipped: true });
  });

  it('ends at a loop, forgets what is old, and starts anew when time is set back', () => {
    const tf = buffer();
    tf.add(link('a', 'b', 1000, 0, 0, 0), false);
    tf.add(link('b', 'a', 1000, 0, 0, 0), false);
    expect(tf.lookup('c', 'a', null).ok).toBe(false);
    tf.add(link('odom', 'base_link', 900_000, 1, 0, 0), false);
    tf.add(link('odom', 'base_link', 1_000, 2, 0, 0), false);
    expect(tf.newest('base_link')).toBe(1_000);
  });

  it('never throws and never grows, whatever arrives', () => {
    const tf = buffer();
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.double(), fc.double(), (parent, child, at, x) => {
        const sane = Number.isFinite(at) ? at : 0;
        tf.add(link(parent, child, sane, x, x, x), false);
        tf.lookup(parent, child, null);
      }),
    );
  });
});
