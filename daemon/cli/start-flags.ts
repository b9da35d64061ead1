/**
 * How the process of `deviceagent run` is started, so that it stays small. What can be set from within it is set
 * there (`run.ts`); this cannot. The unit in `docs/operations.md` says the same.
 */

/** One thread of V8 beside the main one, for compiling and collecting, instead of four with memory of their own. */
export const NODE_FLAGS: readonly string[] = ['--v8-pool-size=1'];

/** glibc otherwise gives each thread a heap of its own, which keeps what loading left behind. */
export const ALLOCATOR_ENV: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
