/** What the daemon asks of a map that grows. */
import { join } from 'node:path';
import { errorText, Refusal } from '../../config/contracts/errors.js';
import type { RtAnswer, RtRequest } from '../../config/contracts/rt-protocol.js';
import { saveMapBundle } from '../amr/map/bundle.js';
import type { Navigator, NavigatorMapping } from '../amr/types.js';

export type MappingRequest = Extract<
  RtRequest,
  { op: 'startMapping' | 'frontier' | 'writeMapping' | 'dropMapping' }
>;

export interface MappingRequestParts {
  navigator: Navigator;
  /** Throws a `Refusal` while an action runs. */
  requireRest(): void;
  log(message: string): void;
}

/** Throws a `Refusal`. Writing a map takes the event loop some milliseconds, so the robot has to stand. */
export function obeyMapping(parts: MappingRequestParts, request: MappingRequest): RtAnswer | undefined {
  const { navigator, requireRest, log } = parts;
  const mapper = mapperOf(navigator);
  switch (request.op) {
    case 'startMapping':
      requireRest();
      if (mapper.session !== null) throw new Refusal('ILLEGAL_STATE', 'a map is being made already');
      mapper.startMapping();
      log('a new map begins');
      return undefined;
    case 'frontier':
      return sessionOf(mapper).frontier(request.request);
    case 'writeMapping':
      requireRest();
      return write(mapper, request.folder, request.keep, log);
    case 'dropMapping':
      requireRest();
      if (mapper.session === null) throw new Refusal('ILLEGAL_STATE', 'no map is being made');
      mapper.dropMapping();
      log('the new map was given up');
      return undefined;
  }
}

/** Refuses another map while one is being made. */
export function requireNoMapping(navigator: Navigator): void {
  const session = navigator.mapper?.session ?? null;
  if (session !== null && !session.finished) {
    throw new Refusal('ILLEGAL_STATE', 'a map is being made: it has to be finished or given up first');
  }
}

function write(
  mapper: NavigatorMapping,
  folder: string,
  keep: boolean,
  log: (text: string) => void,
): RtAnswer {
  const session = sessionOf(mapper);
  // Before it is written: what is written is what the robot then has.
  if (!keep) mapper.finishMapping();
  const bundle = session.content();
  try {
    saveMapBundle(join(folder, 'map.yaml'), bundle);
  } catch (error) {
    throw new Refusal('CAPABILITY_UNAVAILABLE', `the new map cannot be written: ${errorText(error)}`);
  }
  log(`the new map ${bundle.id} is written`);
  return session.ground();
}

function sessionOf(mapper: NavigatorMapping) {
  const { session } = mapper;
  if (session === null) throw new Refusal('ILLEGAL_STATE', 'no map is being made');
  return session;
}

function mapperOf({ mapper }: Navigator): NavigatorMapping {
  if (mapper === undefined || mapper === null) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'this robot cannot make maps: import one with deviceagent map import',
    );
  }
  return mapper;
}
