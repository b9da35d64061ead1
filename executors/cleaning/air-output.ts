/** The air as it stands in outputs and evidence: values with their age, null where not known. */
import { z } from 'zod';
import { AIR_GRADES } from '../../config/contracts/air.js';
import type { AirSample } from '../../state-machines/cleaning-types.js';

export const airOutputSchema = z.strictObject({
  grade: z.enum(AIR_GRADES).nullable(),
  usable: z.boolean(),
  observed_at_ms: z.number().nullable(),
  freshness_ms: z.number().nullable(),
  /** µg/m³ */
  pm2_5: z.number().nullable(),
  pm10: z.number().nullable(),
  /** ppm */
  co2: z.number().nullable(),
});

export function airOutput(sample: AirSample): z.infer<typeof airOutputSchema> {
  const { grade, usable, observedAtMs, freshnessMs, pm2_5, pm10, co2 } = sample;
  return { grade, usable, observed_at_ms: observedAtMs, freshness_ms: freshnessMs, pm2_5, pm10, co2 };
}
