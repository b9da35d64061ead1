// A vitest reporter for scripts: one closing line with the numbers, and nothing else.

export default class PlainSummary {
  onTestRunEnd(modules) {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that does not load is a failure, although no test of it ran.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1;
    }
    console.log(
      `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped`,
    );
  }
}
