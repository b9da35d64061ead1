/** How a world comes to be: from a world file, or from any ROS map. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorText } from '../../config/contracts/errors.js';
import { loadLayout } from './load-layout.js';
import { mapLayout } from './map-layout.js';
import { readAreas, readRosMap } from './ros-map.js';
import { World, type WorldOptions } from './world.js';
import { parseWorldFile, WorldFileError } from './world-file.js';

/** The home that comes with the simulator. */
const DEFAULT_WORLD_FILE = fileURLToPath(new URL('../worlds/two-bedroom.yaml', import.meta.url));

/** The world of a file. Throws `WorldFileError` with one sentence naming the file, the field and what is allowed. */
export function createWorld(worldFile: string = DEFAULT_WORLD_FILE, options: WorldOptions = {}): World {
  try {
    return worldFromText(readText(worldFile), options);
  } catch (error) {
    if (error instanceof WorldFileError)
      throw new WorldFileError(error.field, `${worldFile}: ${error.message}`);
    throw error;
  }
}

export function worldFromText(text: string, options: WorldOptions = {}): World {
  return new World(loadLayout(parseWorldFile(text)), options);
}

/** The world of a ROS map (`map_server` YAML and PGM, `areas.yaml` beside it when there is one). */
export function createWorldFromMap(mapYaml: string, options: WorldOptions = {}): World {
  return new World(mapLayout(readRosMap(mapYaml), readAreas(mapYaml), mapYaml), options);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new WorldFileError('', `cannot be read: ${errorText(error)}`);
  }
}

export { worldToMap } from './survey.js';
export { World, type WorldOptions } from './world.js';
export { WorldFileError } from './world-file.js';
