/** What a home is like where nothing is said of it. */
import type { Air } from '../types.js';

/** Height of the rooms, m. */
export const CEILING = 2.3;

/** The air of a cool day in a town. */
export const OUTDOOR: Air = {
  pm1_0: 9,
  pm2_5: 14,
  pm10: 26,
  co2: 420,
  voc: 0.1,
  hcho: 0.005,
  temperature: 12,
  humidity: 55,
};
