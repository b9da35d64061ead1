import { compose, type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import { gaussian } from './gaussian.js';
import { LikelihoodField } from './likelihood-field.js';
import { adaptiveCount, lowVarianceIndices, type ParticleSet, particleSet } from './resample.js';
import type { ScanPoints } from './scan-points.js';

export interface FilterParams {
  minParticles: number;
  maxParticles: number;
  /** Deviation of a ray's end from the mapped surface, metres: sensor, map and cell size together. */
  hitSigma: number;
  /** Share of rays explained by something that is not in the map. */
  randomShare: number;
  /**
   * How many independent observations a scan counts for: neighbouring rays err together, and a filter that takes
   * them all at face value soon believes one wrong particle.
   */
  effectiveBeams: number;
  /** Noise of a motion: metres per metre, metres per radian, radians per radian, radians per metre. */
  transPerTrans: number;
  transPerRot: number;
  rotPerRot: number;
  rotPerTrans: number;
  /** Share of particles that always assume the wheels slipped by some part of the way. */
  slipShare: number;
}

export const DEFAULT_FILTER: FilterParams = {
  minParticles: 200,
  maxParticles: 1000,
  hitSigma: 0.07,
  randomShare: 0.15,
  effectiveBeams: 25,
  transPerTrans: 0.12,
  transPerRot: 0.02,
  rotPerRot: 0.12,
  rotPerTrans: 0.08,
  slipShare: 0.05,
};

/** Where the robot is believed to be, in the `map` frame. */
export interface Estimate {
  pose: Pose;
  /** Variances and covariance of x, y (m²) and variance of theta (rad²). */
  covariance: { xx: number; xy: number; yy: number; theta: number };
  /** Share of all weight round this pose, 0…1: what is left believes in other places. */
  share: number;
}

/** Deviation of the scan's fit that `score` measures with, metres. */
const SCORE_SIGMA = 0.1;
/** The estimate is the mean of the particles this near to the best one: with two hypotheses, not the point between. */
const CLUSTER_RADIUS = 0.6;

/**
 * Monte-Carlo localisation on a likelihood field ("Probabilistic Robotics", chapters 5, 6 and 8; adaptive number
 * after D. Fox's KLD sampling). Particles are poses of `base_link` in grid coordinates (cells, grid axes).
 */
export class ParticleFilter {
  readonly #field: LikelihoodField;
  readonly #params: FilterParams;
  readonly #random: () => number;
  readonly #normal: () => number;
  readonly #logLikelihood: Float64Array;
  readonly #fit: Float64Array;
  #particles: ParticleSet = particleSet(0);
  /** More than `maxParticles` only after a start without an idea, until the cloud has drawn together. */
  #most: number;

  constructor(field: LikelihoodField, params: FilterParams, random: () => number) {
    this.#field = field;
    this.#params = params;
    this.#random = random;
    this.#most = params.maxParticles;
    this.#normal = gaussian(random);
    const { hitSigma, randomShare } = params;
    this.#logLikelihood = LikelihoodField.table((d) =>
      Math.log((1 - randomShare) * Math.exp(-(d * d) / (2 * hitSigma * hitSigma)) + randomShare * 0.2),
    );
    this.#fit = LikelihoodField.table((d) => Math.exp(-(d * d) / (2 * SCORE_SIGMA * SCORE_SIGMA)));
    this.#fit[255] = 0;
  }

  get count(): number {
    return this.#particles.count;
  }

  /** Starts round a known pose. Deviations in metres and radians. */
  init(pose: Pose, xy: number, theta: number): void {
    this.#most = this.#params.maxParticles;
    this.#fill(this.#params.maxParticles, () => this.#near(pose, xy, theta));
  }

  /** Starts with no idea, anywhere on the given cells (row-major indices). */
  initAnywhere(cells: Int32Array, particles: number): void {
    const { width } = this.#field.frame;
    this.#most = Math.max(particles, this.#params.maxParticles);
    this.#fill(particles, () => {
      const cell = cells[Math.floor(this.#random() * cells.length)] ?? 0;
      return {
        x: (cell % width) + this.#random(),
        y: Math.floor(cell / width) + this.#random(),
        theta: (this.#random() * 2 - 1) * Math.PI,
      };
    });
  }

  /** Starts at several poses, with as many particles at each. */
  initAtEach(poses: readonly Pose[], xy: number, theta: number): void {
    this.#most = this.#params.maxParticles;
    let next = 0;
    this.#fill(this.#params.maxParticles, () => {
      const pose = poses[next++ % poses.length];
      return this.#near(pose ?? { x: 0, y: 0, theta: 0 }, xy, theta);
    });
  }

  /** Replaces a share of the particles by ones near a pose: a second chance after the track was lost. */
  inject(pose: Pose, share: number, xy: number, theta: number): void {
    const { x, y, theta: t, count } = this.#particles;
    for (let i = 0; i < count; i++) {
      if (this.#random() >= share) continue;
      const p = this.#near(pose, xy, theta);
      x[i] = p.x;
      y[i] = p.y;
      t[i] = p.theta;
    }
  }

  /** Spreads the particles a little, so that copies of one explore what is around it. Metres and radians. */
  roughen(xy: number, theta: number): void {
    const { resolution } = this.#field.frame;
    const set = this.#particles;
    for (let i = 0; i < set.count; i++) {
      set.x[i] = (set.x[i] ?? 0) + (this.#normal() * xy) / resolution;
      set.y[i] = (set.y[i] ?? 0) + (this.#normal() * xy) / resolution;
      set.theta[i] = wrapAngle((set.theta[i] ?? 0) + this.#normal() * theta);
    }
  }

  /**
   * Moves every particle by a motion measured in `base_link`, each with its own noise. `slipShare`: how many take
   * only a random part of the way, because the wheels may have slipped.
   */
  predict(delta: Pose, slipShare = this.#params.slipShare): void {
    const { resolution } = this.#field.frame;
    const p = this.#params;
    const trans = Math.hypot(delta.x, delta.y);
    const rot = Math.abs(delta.theta);
    const sigmaTrans = p.transPerTrans * trans + p.transPerRot * rot;
    const sigmaRot = p.rotPerRot * rot + p.rotPerTrans * trans;
    const { x, y, theta, count } = this.#particles;
    for (let i = 0; i < count; i++) {
      const grip = this.#random() < slipShare ? this.#random() : 1;
      const dx = (delta.x * grip + this.#normal() * sigmaTrans) / resolution;
      const dy = (delta.y * grip + this.#normal() * sigmaTrans * 0.5) / resolution;
      const heading = (theta[i] ?? 0) + delta.theta / 2;
      const c = Math.cos(heading);
      const s = Math.sin(heading);
      x[i] = (x[i] ?? 0) + c * dx - s * dy;
      y[i] = (y[i] ?? 0) + s * dx + c * dy;
      theta[i] = wrapAngle((theta[i] ?? 0) + delta.theta + this.#normal() * sigmaRot);
    }
  }

  /** Weighs the particles by a scan and, where few of them carry the weight, draws new ones. `trust`: 0…1. */
  update(beams: ScanPoints, trust = 1): void {
    if (beams.count === 0 || this.#particles.count === 0) return;
    this.#weigh(beams, trust);
    const { weight, count } = this.#particles;
    let squares = 0;
    for (let i = 0; i < count; i++) squares += (weight[i] ?? 0) ** 2;
    if (1 / squares < count / 2) this.#resample();
  }

  /** The mean of the particles round the heaviest one. Null without particles. */
  estimate(): Estimate | null {
    const { x, y, theta, weight, count } = this.#particles;
    if (count === 0) return null;
    const { resolution } = this.#field.frame;
    const near = CLUSTER_RADIUS / resolution;
    const best = this.#heaviest();
    const [bx, by, bt] = [x[best] ?? 0, y[best] ?? 0, theta[best] ?? 0];
    let [w, mx, my, mt] = [0, 0, 0, 0];
    let [xx, xy, yy, tt] = [0, 0, 0, 0];
    for (let i = 0; i < count; i++) {
      const dx = (x[i] ?? 0) - bx;
      const dy = (y[i] ?? 0) - by;
      if (dx * dx + dy * dy > near * near) continue;
      const dt = wrapAngle((theta[i] ?? 0) - bt);
      const wi = weight[i] ?? 0;
      w += wi;
      mx += wi * dx;
      my += wi * dy;
      mt += wi * dt;
      xx += wi * dx * dx;
      xy += wi * dx * dy;
      yy += wi * dy * dy;
      tt += wi * dt * dt;
    }
    [mx, my, mt] = [mx / w, my / w, mt / w];
    const point = this.#field.frame.toMap({ x: bx + mx, y: by + my });
    const scale = resolution * resolution;
    const turned = this.#turnCovariance(xx / w - mx * mx, xy / w - mx * my, yy / w - my * my);
    return {
      pose: { ...point, theta: wrapAngle(bt + mt + this.#field.frame.origin.theta) },
      covariance: {
        xx: turned.xx * scale,
        xy: turned.xy * scale,
        yy: turned.yy * scale,
        theta: Math.max(0, tt / w - mt * mt),
      },
      share: w,
    };
  }

  /** Mean likelihood, 0…1, of the rays' ends seen from a pose in the `map` frame; null without rays. */
  score(pose: Pose, beams: ScanPoints): number | null {
    if (beams.count === 0) return null;
    const p = this.#field.frame.poseToGrid(pose);
    return this.#field.sum(p.x, p.y, p.theta, beams.x, beams.y, beams.count, this.#fit) / beams.count;
  }

  #near(pose: Pose, xy: number, theta: number): Pose {
    return this.#field.frame.poseToGrid({
      x: pose.x + this.#normal() * xy,
      y: pose.y + this.#normal() * xy,
      theta: pose.theta + this.#normal() * theta,
    });
  }

  #fill(count: number, draw: () => Pose): void {
    const set = particleSet(count);
    for (let i = 0; i < count; i++) {
      const p = draw();
      set.x[i] = p.x;
      set.y[i] = p.y;
      set.theta[i] = p.theta;
      set.weight[i] = 1 / count;
    }
    this.#particles = set;
  }

  #weigh(beams: ScanPoints, trust: number): void {
    const { x, y, theta, weight, count } = this.#particles;
    const power = (trust * Math.min(beams.count, this.#params.effectiveBeams)) / beams.count;
    let highest = Number.NEGATIVE_INFINITY;
    const logs = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const sum = this.#field.sum(
        x[i] ?? 0,
        y[i] ?? 0,
        theta[i] ?? 0,
        beams.x,
        beams.y,
        beams.count,
        this.#logLikelihood,
      );
      const log = Math.log(weight[i] ?? 0) + power * sum;
      logs[i] = log;
      if (log > highest) highest = log;
    }
    let total = 0;
    for (let i = 0; i < count; i++) {
      const w = Math.exp((logs[i] ?? 0) - highest);
      weight[i] = w;
      total += w;
    }
    for (let i = 0; i < count; i++) weight[i] = (weight[i] ?? 0) / total;
  }

  #heaviest(): number {
    const { weight, count } = this.#particles;
    let best = 0;
    for (let i = 1; i < count; i++) if ((weight[i] ?? 0) > (weight[best] ?? 0)) best = i;
    return best;
  }

  #resample(): void {
    const { minParticles, maxParticles } = this.#params;
    const old = this.#particles;
    const { resolution } = this.#field.frame;
    const wanted = adaptiveCount(old, resolution, this.#random, minParticles, this.#most);
    this.#most = Math.max(maxParticles, wanted);
    const set = particleSet(wanted);
    const from = lowVarianceIndices(old.weight, old.count, wanted, this.#random());
    for (let i = 0; i < wanted; i++) {
      const j = from[i] ?? 0;
      set.x[i] = old.x[j] ?? 0;
      set.y[i] = old.y[j] ?? 0;
      set.theta[i] = old.theta[j] ?? 0;
      set.weight[i] = 1 / wanted;
    }
    this.#particles = set;
  }

  /** From grid axes to the `map` frame's. */
  #turnCovariance(xx: number, xy: number, yy: number): { xx: number; xy: number; yy: number } {
    const axis = compose({ x: 0, y: 0, theta: this.#field.frame.origin.theta }, { x: 1, y: 0, theta: 0 });
    const [c, s] = [axis.x, axis.y];
    return {
      xx: c * c * xx - 2 * c * s * xy + s * s * yy,
      xy: c * s * (xx - yy) + (c * c - s * s) * xy,
      yy: s * s * xx + 2 * c * s * xy + c * c * yy,
    };
  }
}
