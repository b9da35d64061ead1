import type { GridMapper } from '../mapping/grid-mapper.js';

/** What makes a map of scans, one after the other, with a bounded amount of work for each. */
export type LiveMapper = Pick<GridMapper, 'addScan' | 'pose' | 'grid' | 'busy' | 'finish' | 'quality'>;
