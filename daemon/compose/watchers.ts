/** What looks by itself and acts: publishes what changed, sends the robot home, ends what an e-stop ended. */
import type { AmrDriver, AmrEvent } from '../../config/contracts/amr.js';
import { BatteryGuard } from '../context/battery-guard.js';
import { ContextTelemetry } from '../context/context-telemetry.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import type { Ground } from './ground.js';
import type { Work } from './work.js';

export interface Watchers {
  telemetry: ContextTelemetry;
  batteryGuard: BatteryGuard;
}

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
  const batteryGuard = new BatteryGuard({
    clock,
    log,
    state: robot.state,
    goingHome: () => tasks.listTasks({ active: true }).some((task) => task.method === 'returnToStation'),
    goHome: () =>
      void tasks.submit({
        method: 'returnToStation',
        params: {},
        task: {},
        source: 'SUPERVISOR',
        legacy: false,
        correlationId: null,
      }),
  });
  watchSafety(robot.body.amr, tasks);
  robot.bus.on(() => tasks.contextChanged());
  return { telemetry, batteryGuard };
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
