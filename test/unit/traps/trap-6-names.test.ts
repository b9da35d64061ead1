/**
 * Trap 6, as far as this version has language: the names of rooms. Spacing, case and the form of the letters change
 * nothing, and what is not a name is refused with a suggestion, never guessed. Sentences and speech are not built yet.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import { RoomCatalogue } from '../../../drivers/amr/map/rooms.js';
import { ROOMS } from '../../support/services.js';

const rooms = ROOMS.filter(({ id }) => id !== '5').map((room) =>
  room.id === '4' ? { ...room, aliases: ['study', 'the small one'] } : room,
);
const catalogue = new RoomCatalogue({ rooms, station: null });
const names = rooms.flatMap((room) => [room.name, ...room.aliases].map((name) => ({ room, name })));
const blank = fc.stringMatching(/^[ \t\u00a0\u3000]{0,4}$/u);

function meant(text: string): string | null {
  try {
    return catalogue.resolve(text).id;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    expect(['UNKNOWN_TARGET', 'AMBIGUOUS_TARGET']).toContain(error.reason);
    return null;
  }
}

describe('trap 6: spacing that changes what is meant, and what is not known', () => {
  it('the same name means the same room, however it is spaced, cased and composed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        blank,
        blank,
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom('NFC' as const, 'NFD' as const),
        fc.boolean(),
        ({ room, name }, before, after, gap, form, upper) => {
          const spaced = name.replaceAll(' ', ' '.repeat(gap));
          const text = `${before}${upper ? spaced.toUpperCase() : spaced}${after}`.normalize(form);
          expect(meant(text)).toBe(room.id);
        },
      ),
    );
  });

  it('whatever is not a name is refused, also with a name inside it: never a wrong room', () => {
    const known = new Set(names.map(({ name }) => name.toLowerCase()).concat(rooms.map(({ id }) => id)));
    const near = fc
      .tuple(fc.constantFrom(...names), fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 }))
      .map(([{ name }, before, after]) => `${before}${name}${after}`);
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ maxLength: 60 })), (text) => {
        const plain = text.normalize('NFC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
        fc.pre(!known.has(plain));
        expect(meant(text)).toBeNull();
      }),
    );
  });

  it('a sentence instead of a name is refused with the rooms there are, however long it is', () => {
    for (const text of ['거실로 가서 청정해줘', `go to the kitchen ${'please '.repeat(50_000)}`]) {
      expect(() => catalogue.resolve(text, 'positionName')).toThrow(
        expect.objectContaining({ reason: 'UNKNOWN_TARGET', field: 'positionName' }),
      );
    }
  });
});
