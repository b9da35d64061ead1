/** What looks by itself and acts: publishes what changed, sends the robot home, ends what an e-stop ended. */
import type { AmrDriver, AmrEvent } from '../../config/contracts/amr.js';
import { distance } from '../../config/contracts/geometry.js';
import { tolerantSnapshots } from '../../state-machines/tolerant-snapshots.js';
import { ContextTelemetry } from '../context/context-telemetry.js';
import { HomeKeeper } from '../context/home-keeper.js';
import { Snapshots } from '../store/small-tables.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import type { Ground } from './ground.js';
import type { Work } from './work.js';

export interface Watchers {
  telemetry: ContextTelemetry;
  homeKeeper: HomeKeeper;
}

/** What the robot says when it could not get onto its station. */
const HOMEWARD = {
  tries_again: {
    ko: '충전대에 올라가지 못했어요. 조금 뒤에 다시 해 볼게요.',
    en: 'I could not get onto my station. I will try again in a while.',
  },
  needs_help: {
    ko: '충전대에 올라갈 수 없어요. 저를 충전대에 올려 주세요.',
    en: 'I cannot get onto my station. Please put me on it.',
  },
} as const;

export function createWatchers({ options, robot, storage }: Ground, work: Work): Watchers {
  const { clock, log } = options;
  const { tasks } = work;
  const telemetry = new ContextTelemetry({
    clock,
    log,
    outbox: storage.outbox,
    build: () => work.context({ version: 1 }),
    wanted: () => work.cloud !== null,
  });
  const submit = (method: string, params: object) =>
    void tasks.submit({
      method,
      params: { ...params },
      task: {},
      source: 'SUPERVISOR',
      legacy: false,
      correlationId: null,
    });
  const { language } = robot.config;
  const homeKeeper = new HomeKeeper({
    clock,
    log,
    state: robot.state,
    snapshots: tolerantSnapshots(new Snapshots(storage.store, log), log),
    onTaskEvent: (listener) => tasks.onEvent(listener),
    goingHome: () => tasks.listTasks({ active: true }).some((task) => task.method === 'returnToStation'),
    beforeStation: () => {
      const { pose, localized } = robot.state.facts();
      const station = robot.map.rooms?.station?.pose;
      return pose !== null && localized === true && station !== undefined && distance(pose, station) < 0.6;
    },
    moving: () => tasks.leases().some(({ resource, owner }) => resource === 'motion' && owner !== null),
    goHome: () => submit('returnToStation', {}),
    say: (what) => submit('setLlmTts', { text: HOMEWARD[what][language], language, interrupt: false }),
  });
  watchSafety(robot.body.amr, tasks);
  robot.bus.on(() => tasks.contextChanged());
  return { telemetry, homeKeeper };
}

/** A latched e-stop ends whatever holds the wheels; each change of safety is news to waiting conditions. */
function watchSafety(amr: AmrDriver, tasks: TaskManagerHandle): void {
  let latched = false;
  amr.subscribe((event: AmrEvent) => {
    const estop =
      event.type === 'safety' ? event.safety.estop : event.type === 'state' ? event.state.safety.estop : null;
    if (estop === null || estop.latched === latched) return;
    latched = estop.latched;
    if (latched) tasks.emergencyStop('the emergency stop was pressed', estop.at ?? timeOf(event));
    tasks.contextChanged();
  });
}

function timeOf(event: AmrEvent): number {
  return event.type === 'state' ? event.state.at : event.type === 'action' ? event.update.at : event.at;
}
