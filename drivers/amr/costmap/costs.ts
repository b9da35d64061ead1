/** The scale of cell costs, as ROS costmaps use it. */
export const COST_FREE = 0;
/** Highest cost of a cell the robot's centre may be in. */
export const COST_MAX_FREE = 252;
/** The robot's body would touch an obstacle with its centre here. */
export const COST_INSCRIBED = 253;
/** An obstacle or a keep-out area. */
export const COST_LETHAL = 254;
export const COST_UNKNOWN = 255;

export interface InflationParams {
  /** Radius of the body, metres. */
  robotRadius: number;
  /** Kept free around the body, metres. */
  margin: number;
  /** Up to this distance from an obstacle cells cost more, metres. */
  inflationRadius: number;
  /** How fast the cost falls with the distance beyond the body, 1/m. */
  decay: number;
}

/**
 * 0.04 m of margin covers where in a 5 cm cell the robot is, and leaves a path 0.2 m wide through the reference
 * home's narrowest door (0.62 m), in whose middle the cost is lowest.
 */
export const DEFAULT_INFLATION: InflationParams = {
  robotRadius: 0.17,
  margin: 0.04,
  inflationRadius: 0.6,
  decay: 6,
};

/** Cost by distance, metres, from the robot's centre to an obstacle's surface. */
export function inflatedCost(distance: number, p: InflationParams): number {
  const beyond = distance - (p.robotRadius + p.margin);
  if (beyond < 0) return distance <= 0 ? COST_LETHAL : COST_INSCRIBED;
  if (distance > p.inflationRadius) return COST_FREE;
  return Math.round(COST_MAX_FREE * Math.exp(-p.decay * beyond));
}
