/** The running daemon as the local API sees it. */
import { prefixed } from '../../config/contracts/counters.js';
import type { DoctorCheck, Runtime } from '../runtime.js';
import { tolerateStore } from '../task-manager/defects.js';
import { doctorOf } from './doctor.js';
import type { Ground } from './ground.js';
import { importMap } from './import-map.js';
import { mapViewOf } from './map-view.js';
import type { Watchers } from './watchers.js';
import type { Work } from './work.js';

export function createRuntime(ground: Ground, work: Work, watchers: Watchers, ready: () => boolean): Runtime {
  const { options, bootId, robot, storage } = ground;
  const { config, map } = robot;
  const { amr } = robot.body;
  const { methods, tasks, intake, context, capabilities, network } = work;
  return {
    deviceId: config.device_id,
    bootId,
    version: options.version,
    stateDir: options.stateDir,
    profile: config.profile,
    clock: options.clock,
    methods,
    tasks,
    intake,
    outbox: storage.outbox,
    amr,
    committed: () => storage.store.committed(),
    ready,
    context,
    capabilities,
    map: () => (map.bundle === null ? null : mapViewOf(map.bundle)),
    mapFile: () => map.file,
    importMap: (file) => importMap({ changes: robot.mapChanges, amr, log: options.log }, file),
    cloud: network,
    doctor: (language) => examine(ground, work, language),
    counters: () => countersOf(ground, work, watchers),
    onDomainEvent: (listener) => robot.bus.on(listener),
    recentEvents: (since, limit) => storage.outbox.recentEvents(since, limit),
    estop: (by) => amr.estop(by),
    releaseEstop: async (by) => {
      await amr.releaseEstop(by);
      tolerateStore(() => work.policy.released(by));
    },
    presses: robot.presses,
    policy: work.policy.desk,
  };
}

function examine(
  { robot, storage }: Ground,
  { cloud, clockTrust }: Work,
  language: 'ko' | 'en',
): DoctorCheck[] {
  const { config, body, map, peripherals } = robot;
  const sources = {
    config,
    amr: body.amr,
    bodyUnavailable: body.unavailable(),
    map: map.bundle,
    mapProblem: map.problem,
    airSensor: peripherals.airSensor,
    fan: peripherals.fan,
    cloud: cloud?.facts() ?? null,
    databaseMovedTo: storage.store.movedAside?.path ?? null,
    databaseFailing: storage.store.failing?.code ?? null,
    outboxDepth: storage.outbox.stats().depth,
    clock: clockTrust.verdict(),
    diagnosis: () => robot.diagnosis.advice,
  };
  return doctorOf(sources, language);
}

function countersOf(
  { robot, storage }: Ground,
  work: Work,
  { telemetry, homeKeeper }: Watchers,
): Record<string, number> {
  return {
    ...robot.body.counters(),
    ...robot.body.amr.state()?.counters,
    ...robot.peripherals.counters(),
    ...prefixed('store', storage.store.counters()),
    ...prefixed('tasks', work.tasks.counters()),
    ...prefixed('policy', work.policy.counters()),
    ...prefixed('timers', storage.timers.counters()),
    ...prefixed('observations', work.observations.counters()),
    ...prefixed('context', telemetry.counters()),
    ...homeKeeper.counters(),
    ...work.intake.counters(),
    ...work.cloud?.counters(),
  };
}
