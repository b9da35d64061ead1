/**
 * Whether rclnodejs can be loaded, found out without loading it: importing it where its binary does not fit starts a
 * build of it. What it needs is a sourced ROS 2 (`ROS_DISTRO`, `AMENT_PREFIX_PATH`), its C library, and the message
 * types that its install generated from there.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export type RclEnvironment = { ok: true; distro: string; module: string } | { ok: false; why: string };

export interface EnvironmentProbe {
  env: NodeJS.ProcessEnv;
  exists?: (path: string) => boolean;
  list?: (path: string) => string[];
  /** Path of the installed package's `package.json`; null: not installed. */
  find?: () => string | null;
}

/** Reads directories only; nothing of rclnodejs runs. */
export function probeRclnodejs(probe: EnvironmentProbe): RclEnvironment {
  const { env, exists = existsSync, list = listed, find = packageFile } = probe;
  const distro = env.ROS_DISTRO;
  const prefixes = (env.AMENT_PREFIX_PATH ?? '').split(':').filter((path) => path !== '');
  if (distro === undefined || distro === '' || prefixes.length === 0) {
    return {
      ok: false,
      why: 'ROS 2 is not sourced (ROS_DISTRO, AMENT_PREFIX_PATH): source its setup.bash first',
    };
  }
  if (!prefixes.some((prefix) => exists(join(prefix, 'lib', 'librcl.so')))) {
    return {
      ok: false,
      why: `librcl.so is in no prefix of AMENT_PREFIX_PATH (${prefixes.slice(0, 3).join(', ')})`,
    };
  }
  const file = find();
  if (file === null)
    return { ok: false, why: 'rclnodejs is not installed: npm install rclnodejs in a sourced shell' };
  const home = dirname(file);
  const generated = join(home, 'generated');
  if (!exists(generated) || list(generated).length === 0) {
    return {
      ok: false,
      why: `${generated} holds no message types: install rclnodejs anew in a sourced shell`,
    };
  }
  return { ok: true, distro, module: home };
}

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Resolving reads `package.json` files, and loads nothing. */
function packageFile(): string | null {
  try {
    return createRequire(import.meta.url).resolve('rclnodejs/package.json');
  } catch {
    return null;
  }
}
