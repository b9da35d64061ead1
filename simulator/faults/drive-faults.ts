/** What can be made to go wrong with the wheels, their motors, encoders and wires. */
import type { World } from '../world/world.js';

export interface DriveCommand {
  usage: string;
  run: (words: readonly string[]) => string;
}

const SIDES = ['left', 'right'] as const;
const STATES = [
  'ok',
  'held',
  'slips',
  'dead-motor',
  'reversed-motor',
  'dead-encoder',
  'reversed-encoder',
] as const;
const WIRES = ['ok', 'swap-motors', 'swap-encoders'] as const;
/** Share of a slipping wheel's turning that does not move the robot. */
const SLIP = 0.6;

const WHEEL = `wheel ${SIDES.join('|')} ${STATES.join('|')}`;
const WIRING = `wires ${WIRES.join('|')}`;

export function driveCommands(world: World): Record<string, DriveCommand> {
  return {
    wheel: { usage: WHEEL, run: (words) => setWheel(world, words) },
    wires: { usage: WIRING, run: (words) => setWires(world, words) },
  };
}

function setWheel(world: World, words: readonly string[]): string {
  const side = SIDES.find((one) => one === words[0]);
  const state = STATES.find((one) => one === words[1]);
  if (side === undefined || state === undefined || words.length !== 2) throw new Error(`usage: ${WHEEL}`);
  const wheel = world.body.wheelStates[side];
  wheel.blocked = state === 'held';
  wheel.slip = state === 'slips' ? SLIP : 0;
  wheel.motor = state === 'dead-motor' ? 'dead' : state === 'reversed-motor' ? 'reversed' : 'ok';
  wheel.encoder = state === 'dead-encoder' ? 'dead' : state === 'reversed-encoder' ? 'reversed' : 'ok';
  world.tell(`inject wheel ${side} ${state}`);
  return `the ${side} wheel: ${state}`;
}

function setWires(world: World, words: readonly string[]): string {
  const wires = WIRES.find((one) => one === words[0]);
  if (wires === undefined || words.length !== 1) throw new Error(`usage: ${WIRING}`);
  world.body.swapped.motors = wires === 'swap-motors';
  world.body.swapped.encoders = wires === 'swap-encoders';
  world.tell(`inject wires ${wires}`);
  return `the wires of the wheels: ${wires}`;
}
