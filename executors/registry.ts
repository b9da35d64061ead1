/** Every task method that is built. What is not in here does not exist: no table, card or command knows it. */
import { pauseCleaning, resumeCleaning, setCleaningMode, stopCleaning } from './cleaning/controls.js';
import { startCleaning } from './cleaning/start-cleaning.js';
import { syncState } from './iot/sync-state.js';
import { calibrateSensors } from './maintenance/calibrate-sensors.js';
import { runMotorDiagnostics } from './maintenance/run-motor-diagnostics.js';
import { copyMap } from './map/copy-map.js';
import { resetMap } from './map/reset-map.js';
import { saveMap } from './map/save-map.js';
import { setAreas } from './map/set-areas.js';
import { setKeepOut } from './map/set-keep-out.js';
import { startMapping } from './map/start-mapping.js';
import { stopMapping } from './map/stop-mapping.js';
import type { MethodSpec } from './method.js';
import { pauseMove, resumeMove, stopMove } from './movement/controls.js';
import { startFollowMe, stopFollowMe } from './movement/follow-me.js';
import { manualMove } from './movement/manual-move.js';
import { rotate } from './movement/rotate.js';
import { setMoveTo } from './movement/set-move-to.js';
import { relocalizeAtStation, returnToStation, undock } from './movement/station.js';
import type { Services } from './services.js';
import { setLlmTts, stopTts } from './voice/tts.js';

const BUILT = [
  setMoveTo,
  pauseMove,
  resumeMove,
  stopMove,
  rotate,
  manualMove,
  startFollowMe,
  stopFollowMe,
  returnToStation,
  undock,
  relocalizeAtStation,
  startMapping,
  stopMapping,
  saveMap,
  copyMap,
  resetMap,
  setAreas,
  setKeepOut,
  startCleaning,
  pauseCleaning,
  resumeCleaning,
  stopCleaning,
  setCleaningMode,
  setLlmTts,
  stopTts,
  syncState,
  runMotorDiagnostics,
  calibrateSensors,
] as const;

export function createMethods(services: Services): MethodSpec[] {
  return BUILT.map((build) => build(services));
}
