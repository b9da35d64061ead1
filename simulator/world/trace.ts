/**
 * Turns the world's state into events: a line when something changes, in words without ids or wall times, so
 * that two runs from one seed can be compared line by line.
 */
import type { AirGrade } from '../../config/contracts/air.js';
import { gradeAir } from '../../config/contracts/air.js';
import type { HomeAir } from './air.js';
import type { Battery } from './battery.js';
import type { Body } from './body.js';
import type { Fan } from './fan.js';
import type { Layout } from './layout.js';

/** A grade has to last this long before it is told, ms: values near a limit flicker. */
const GRADE_LASTS = 5000;

export interface Watched {
  layout: Layout;
  body: Body;
  battery: Battery;
  fan: Fan;
  air: HomeAir;
  docked: boolean;
  room: number;
}

interface GradeWatch {
  told: AirGrade | null;
  candidate: AirGrade | null;
  forMs: number;
}

export class Watcher {
  #moving = '0 0';
  #touching = false;
  #bump = '';
  #cliff = false;
  #drop = false;
  #room: number | null = null;
  #docked: boolean;
  #charging: boolean;
  #overcurrent = false;
  #fan = 0;
  #turning = false;
  #percent: number;
  readonly #grades: GradeWatch[];
  readonly #tell: (text: string) => void;

  constructor(world: Watched, tell: (text: string) => void) {
    this.#tell = tell;
    this.#docked = world.docked;
    this.#charging = world.battery.charging;
    this.#percent = tens(world.battery.percent);
    this.#grades = world.layout.rooms.map(() => ({ told: null, candidate: null, forMs: 0 }));
  }

  look(world: Watched): void {
    this.#lookAtBody(world);
    this.#lookAtPlace(world);
    this.#lookAtPower(world);
  }

  /** Air changes slowly: looked at on its own beat, `dtMs` apart. */
  lookAtAir(world: Watched, dtMs: number): void {
    world.layout.rooms.forEach((room, i) => {
      const watch = this.#grades[i];
      const air = world.air.rooms[i];
      if (watch === undefined || air === undefined) return;
      const grade = gradeAir(air)?.grade ?? null;
      if (grade !== watch.candidate) {
        watch.candidate = grade;
        watch.forMs = 0;
      } else watch.forMs += dtMs;
      if (grade === watch.told || (watch.told !== null && watch.forMs < GRADE_LASTS)) return;
      if (watch.told !== null || grade !== 'good') this.#tell(`air ${room.name} ${grade}`);
      watch.told = grade;
    });
  }

  #lookAtBody({ body }: Watched): void {
    const moving = `${mm(body.command.left)} ${mm(body.command.right)}`;
    if (moving !== this.#moving) {
      this.#moving = moving;
      this.#tell(`drive ${moving}`);
    }
    if (body.touching !== this.#touching) {
      this.#touching = body.touching;
      if (body.touching && !body.seated) this.#tell('collision');
    }
    const bump = `${body.bump.left ? 'left' : ''}${body.bump.right ? 'right' : ''}`;
    if (bump !== this.#bump) {
      this.#bump = bump;
      this.#tell(bump === '' ? 'bumper released' : `bumper ${bump === 'leftright' ? 'both' : bump}`);
    }
    const { cliff } = body;
    this.#cliff = this.#flag(
      this.#cliff,
      cliff.left || cliff.frontLeft || cliff.frontRight || cliff.right,
      'cliff',
    );
    this.#drop = this.#flag(this.#drop, body.wheelDrop.left || body.wheelDrop.right, 'wheel drop');
    this.#overcurrent = this.#flag(
      this.#overcurrent,
      body.overcurrent.left || body.overcurrent.right,
      'overcurrent',
    );
  }

  #lookAtPlace({ layout, room, docked }: Watched): void {
    if (room >= 0 && room !== this.#room) {
      this.#room = room;
      this.#tell(`room ${layout.rooms[room]?.name ?? room}`);
    }
    if (docked !== this.#docked) {
      this.#docked = docked;
      this.#tell(docked ? 'docked' : 'undocked');
    }
  }

  #lookAtPower({ battery, fan }: Watched): void {
    this.#charging = this.#flag(this.#charging, battery.charging, 'charging');
    const percent = tens(battery.percent);
    if (percent !== this.#percent) {
      this.#percent = percent;
      this.#tell(`battery ${percent}`);
    }
    if (fan.setPointPercent !== this.#fan) {
      this.#fan = fan.setPointPercent;
      this.#tell(`fan ${Math.round(fan.setPointPercent)}`);
    }
    if (fan.rpm > 0 !== this.#turning) {
      this.#turning = fan.rpm > 0;
      this.#tell(this.#turning ? 'fan turns' : 'fan stands');
    }
  }

  #flag(before: boolean, now: boolean, name: string): boolean {
    if (before !== now) this.#tell(`${name} ${now ? 'on' : 'off'}`);
    return now;
  }
}

function mm(speed: number): number {
  return Math.round(speed * 1000);
}

/** Rounded up to tens, so that 100 % is told once and 0 % means empty. */
function tens(percent: number): number {
  return Math.ceil(percent / 10) * 10;
}
