import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { AuditLog } from '../../../daemon/policy/audit-log.js';
import { openStoreWorld, removeTemporaryDirectories } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

function log(rows: number, keep = 10_000) {
  const world = openStoreWorld();
  const audit = new AuditLog({ ...world, keep });
  for (let i = 0; i < rows; i++)
    audit.append('settings.changed', 'LOCAL:unix-socket', { home_lock: i % 2 === 0 });
  return { ...world, audit };
}

describe('the audit log', () => {
  it('is whole when nobody touched it', () => {
    const { audit } = log(30);
    expect(audit.verify()).toMatchObject({ ok: true, checked: 30, first: 1, last: 30, problem: null });
    expect(log(0).audit.verify()).toMatchObject({ ok: true, checked: 0, first: null });
  });

  it('finds every row that was changed, removed or swapped with another, wherever it stands', () => {
    const { audit, store } = log(12);
    const { db } = store;
    const row = fc.integer({ min: 1, max: 12 });
    const tamper = fc.oneof(
      fc.record({ how: fc.constant('change' as const), a: row, b: row }),
      fc.record({ how: fc.constant('remove' as const), a: row, b: row }),
      fc.record({ how: fc.constant('swap' as const), a: row, b: row }).filter(({ a, b }) => a !== b),
      fc.record({ how: fc.constant('rehash' as const), a: row, b: row }),
    );
    fc.assert(
      fc.property(tamper, ({ how, a, b }) => {
        store.write(() => {
          db.exec('SAVEPOINT tampering');
          if (how === 'change')
            db.prepare("UPDATE audit SET entry = replace(entry, 'LOCAL', 'CLOUD') WHERE n = ?").run(a);
          if (how === 'remove') db.prepare('DELETE FROM audit WHERE n = ?').run(a);
          if (how === 'rehash')
            db.prepare(
              "UPDATE audit SET hash = 'ff' || substr(hash, 3), entry = entry || ' ' WHERE n = ?",
            ).run(a);
          if (how === 'swap') {
            db.prepare('UPDATE audit SET n = -1 WHERE n = ?').run(a);
            db.prepare('UPDATE audit SET n = ? WHERE n = ?').run(a, b);
            db.prepare('UPDATE audit SET n = ? WHERE n = -1').run(b);
          }
          const verdict = audit.verify();
          db.exec('ROLLBACK TO tampering');
          db.exec('RELEASE tampering');
          expect(verdict.ok, how).toBe(false);
          expect(verdict.problem?.n).toBeLessThanOrEqual(Math.max(a, b) + 1);
        });
      }),
    );
    expect(audit.verify().ok).toBe(true);
  });

  it('finds a row that was added behind the newest', () => {
    const { audit, store } = log(3);
    store.db.exec('INSERT INTO audit SELECT 4, entry, hash, prev FROM audit WHERE n = 3');
    expect(audit.verify()).toMatchObject({ ok: false, problem: { n: 4 } });
  });

  it('forgets its oldest rows and still proves the rest', () => {
    const { audit } = log(700, 100);
    const verdict = audit.verify();
    expect(verdict).toMatchObject({ ok: true, last: 700 });
    expect(verdict.checked).toBeLessThanOrEqual(100 + 256);
    expect(verdict.first).toBeGreaterThan(300);
  });

  it('belongs to the transaction of what it records', () => {
    const { audit, store } = log(2);
    expect(() =>
      store.write(() => {
        audit.append('estop.released', 'LOCAL:unix-socket');
        throw new Error('undone');
      }),
    ).toThrow('undone');
    expect(audit.verify()).toMatchObject({ ok: true, last: 2 });
  });
});
