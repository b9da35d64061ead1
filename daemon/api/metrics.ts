/** `/metrics`: built anew for each scrape from what is known at that moment. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { Runtime } from '../runtime.js';
import type { ApiCounters } from './counters.js';

type Labels = Record<string, string>;
interface Sample {
  value: number | null;
  labels?: Labels;
}

/** A fresh registry per scrape, so that what is unknown has no sample instead of a 0. */
class Metrics {
  readonly registry = new Registry();

  gauge(name: string, help: string, samples: readonly Sample[]): void {
    const known = samples.filter((s) => s.value !== null && Number.isFinite(s.value));
    if (known.length === 0) return;
    const gauge = new Gauge({ name, help, labelNames: labelNames(known), registers: [this.registry] });
    for (const { labels, value } of known) gauge.set(labels ?? {}, value ?? 0);
  }

  counter(name: string, help: string, samples: readonly Sample[]): void {
    const known = samples.filter((s) => s.value !== null && Number.isFinite(s.value) && s.value >= 0);
    if (known.length === 0) return;
    const counter = new Counter({ name, help, labelNames: labelNames(known), registers: [this.registry] });
    for (const { labels, value } of known) counter.inc(labels ?? {}, value ?? 0);
  }
}

function labelNames(samples: readonly Sample[]): string[] {
  return Object.keys(samples[0]?.labels ?? {});
}

function one(value: number | null | undefined): Sample[] {
  return [{ value: value ?? null }];
}

function flag(value: boolean | null | undefined): Sample[] {
  return one(value === undefined || value === null ? null : Number(value));
}

export async function renderMetrics(
  runtime: Runtime,
  api: ApiCounters,
): Promise<{ text: string; contentType: string }> {
  const metrics = new Metrics();
  processFigures(metrics);
  device(metrics, runtime);
  work(metrics, runtime);
  outbox(metrics, runtime);
  robot(metrics, runtime);
  self(metrics, api);
  return { text: await metrics.registry.metrics(), contentType: metrics.registry.contentType };
}

function processFigures(m: Metrics): void {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  m.counter(
    'process_cpu_seconds_total',
    'CPU time of the daemon process',
    one((cpu.user + cpu.system) / 1e6),
  );
  m.gauge('process_resident_memory_bytes', 'Resident memory of the daemon process', one(memory.rss));
  m.gauge('nodejs_heap_used_bytes', 'JavaScript heap in use', one(memory.heapUsed));
  m.gauge('process_uptime_seconds', 'Since the daemon process started', one(process.uptime()));
}

/** Figures among the parts' counters that can go down: by the unit or the statistic at the end of the name. */
const LEVELS = /_(us|ms|percent|size|depth|pending)$/;

function device(m: Metrics, runtime: Runtime): void {
  const { deviceId, bootId, version, profile } = runtime;
  m.gauge('deviceagent_info', 'Constant 1', [
    { value: 1, labels: { device_id: deviceId, boot_id: bootId, version, profile } },
  ]);
  m.gauge('deviceagent_ready', 'Commands are accepted', flag(runtime.ready()));
  const cloud = runtime.cloud();
  m.gauge('deviceagent_cloud_transport_connected', 'CONNACK received', flag(cloud.transport_connected));
  m.gauge('deviceagent_cloud_subscription_ready', 'Every SUBACK granted', flag(cloud.subscription_ready));
  const ackAge = cloud.last_publish_ack_at === null ? null : runtime.clock.now() - cloud.last_publish_ack_at;
  m.gauge('deviceagent_cloud_last_puback_age_seconds', 'Since the last PUBACK', one(seconds(ackAge)));
  const named = Object.entries(runtime.counters()).map(([name, value]) => ({ value, labels: { name } }));
  const isLevel = ({ labels }: { labels: { name: string } }) => LEVELS.test(labels.name);
  m.counter(
    'deviceagent_events_total',
    'What the parts count: faults, retries, frames',
    named.filter((sample) => !isLevel(sample)),
  );
  m.gauge('deviceagent_level', 'What the parts measure: latencies, sizes', named.filter(isLevel));
}

function work(m: Metrics, runtime: Runtime): void {
  const { running, queued } = runtime.tasks.summary();
  m.gauge('deviceagent_tasks_running', 'Tasks that run now', one(running.length));
  m.gauge(
    'deviceagent_tasks_queued',
    'Tasks that wait, by queue',
    queued.map(({ queueKey, length }) => ({ value: length, labels: { queue: queueKey } })),
  );
  m.gauge(
    'deviceagent_lease_held',
    'Whether somebody holds the resource',
    runtime.tasks
      .leases()
      .map(({ resource, owner }) => ({ value: owner === null ? 0 : 1, labels: { resource } })),
  );
}

function outbox(m: Metrics, runtime: Runtime): void {
  const stats = runtime.outbox.stats();
  m.gauge('deviceagent_outbox_depth', 'Rows that wait for PUBACK', one(stats.depth));
  m.gauge(
    'deviceagent_outbox_waiting',
    'Rows that wait for PUBACK, per lane',
    Object.entries(stats.lanes).map(([lane, value]) => ({ value, labels: { lane } })),
  );
  m.gauge('deviceagent_outbox_in_flight', 'Sent and not acknowledged', one(stats.flow?.inFlight ?? 0));
  m.gauge('deviceagent_outbox_publish_rate', 'Rows sent a second', one(stats.flow?.publishPerS ?? 0));
  m.gauge('deviceagent_outbox_ack_rate', 'Rows acknowledged a second', one(stats.flow?.ackPerS ?? 0));
  m.gauge('deviceagent_outbox_accepting', '0 while new work is refused', flag(stats.accepting));
  m.gauge('deviceagent_outbox_bytes', 'Bytes that wait for PUBACK', one(stats.bytes));
  m.gauge('deviceagent_outbox_oldest_age_seconds', 'Age of the oldest row', one(seconds(stats.oldestAgeMs)));
  m.gauge('deviceagent_outbox_dead_letters', 'Rows the broker refused for good', one(stats.deadLetters));
  m.counter('deviceagent_outbox_published_total', 'Rows acknowledged', one(stats.publishedTotal));
  m.counter(
    'deviceagent_outbox_dropped_telemetry_total',
    'Telemetry dropped or compacted',
    one(stats.droppedTelemetryTotal),
  );
}

function robot(m: Metrics, runtime: Runtime): void {
  const state = runtime.amr.state();
  if (state === null) return;
  m.gauge(
    'deviceagent_robot_state_age_seconds',
    'Age of the newest state',
    one(seconds(runtime.clock.now() - state.at)),
  );
  m.gauge('deviceagent_battery_percent', 'State of charge', one(state.base.battery?.percent));
  m.gauge('deviceagent_docked', 'Charging contacts live', flag(state.base.docked));
  m.gauge('deviceagent_localized', 'Localisation holds', flag(state.localized));
  m.gauge('deviceagent_localization_score', 'Mean likelihood of the last scan', one(state.localizationScore));
  m.gauge('deviceagent_estop_latched', 'E-stop latched', flag(state.safety.estop.latched));
}

function self(m: Metrics, api: ApiCounters): void {
  const { streamClients, ...totals } = api;
  m.gauge('deviceagent_api_stream_clients', 'Open WebSockets', one(streamClients));
  m.counter(
    'deviceagent_api_events_total',
    'What the local API counts',
    Object.entries(totals).map(([name, value]) => ({
      value,
      labels: { name: name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`) },
    })),
  );
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
