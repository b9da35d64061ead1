/**
 * Indoor air as a grade. The bands are those used in Korea: PM2.5 15/35/75 and PM10 30/80/150 µg/m³ (the
 * Ministry of Environment's forecast bands), CO2 1000/1500/2000 ppm (1000 ppm: the Indoor Air Quality Control
 * Act's limit for public buildings). The worst quantity counts.
 */
import { z } from 'zod';

/** From best to worst. */
export const AIR_GRADES = ['good', 'moderate', 'bad', 'very_bad'] as const;
export type AirGrade = (typeof AIR_GRADES)[number];

/** Upper limits, inclusive, of good, moderate and bad; above the last it is very bad. */
const bandSchema = z
  .tuple([z.number().nonnegative(), z.number().nonnegative(), z.number().nonnegative()])
  .refine(([a, b, c]) => a < b && b < c, 'the three limits have to rise');

export const airBandsSchema = z.strictObject({
  /** µg/m³ */
  pm2_5: bandSchema.default([15, 35, 75]),
  /** µg/m³ */
  pm10: bandSchema.default([30, 80, 150]),
  /** ppm */
  co2: bandSchema.default([1000, 1500, 2000]),
});
export type AirBands = z.infer<typeof airBandsSchema>;
export const DEFAULT_AIR_BANDS: AirBands = airBandsSchema.parse({});

/** The quantities a grade is made of; null where the sensor does not measure one, or did not yet. */
export interface GradedAir {
  pm2_5: number | null;
  pm10: number | null;
  co2: number | null;
}

/** The grade of the worst known quantity, and which that is; null when none is known. */
export function gradeAir(
  air: GradedAir,
  bands: AirBands = DEFAULT_AIR_BANDS,
): { grade: AirGrade; worst: keyof GradedAir } | null {
  let result: { grade: AirGrade; worst: keyof GradedAir; rank: number } | null = null;
  for (const quantity of ['pm2_5', 'pm10', 'co2'] as const) {
    const value = air[quantity];
    if (value === null || !Number.isFinite(value)) continue;
    const rank = bands[quantity].filter((limit) => value > limit).length;
    const grade = AIR_GRADES[rank];
    if (grade !== undefined && (result === null || rank > result.rank)) {
      result = { grade, worst: quantity, rank };
    }
  }
  return result === null ? null : { grade: result.grade, worst: result.worst };
}

/** True when `grade` is as good as `target`, or better. */
export function reachesGrade(grade: AirGrade, target: AirGrade): boolean {
  return AIR_GRADES.indexOf(grade) <= AIR_GRADES.indexOf(target);
}
