import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeZodError } from '../../../config/contracts/errors.js';

/** What a person reads when `value` stands in the field `x`. */
function said(schema: z.ZodType, value: unknown): string {
  const document = value === undefined ? {} : { x: value };
  const parsed = z.object({ x: schema }).safeParse(document);
  if (parsed.success) throw new Error('accepted');
  return describeZodError(parsed.error, document).message;
}

describe('what a refused value is answered with', () => {
  const cases: [string, z.ZodType, unknown, string][] = [
    ['a missing value', z.string(), undefined, 'x: found nothing; it has to be a string'],
    ['another type', z.object({ y: z.number() }), '주방', 'x: found "주방"; it has to be an object'],
    ['a fraction', z.number().int(), 1.5, 'x: found 1.5; it has to be a whole number'],
    ['a choice', z.enum(['on', 'off']), 'yes', 'x: found "yes"; it has to be one of "on", "off"'],
    ['one value', z.literal(1), 2, 'x: found 2; it has to be 1'],
    ['too much', z.number().max(5), 7, 'x: found 7; it has to be at most 5'],
    ['not enough', z.number().positive(), 0, 'x: found 0; it has to be above 0'],
    ['a long text', z.string().max(1), 'ab', 'x: found "ab"; it has to have at most 1 characters'],
    ['a short list', z.array(z.number()).min(1), [], 'x: found []; it has to have at least 1 entries'],
    ['a step', z.number().multipleOf(5), 3, 'x: found 3; it has to be a multiple of 5'],
    ['a pattern', z.string().regex(/^a/), 'b', 'x: found "b"; it has to fit /^a/'],
    [
      'either of two',
      z.union([z.literal('max'), z.number()]),
      'fast',
      'x: found "fast"; it has to be "max" or be a number',
    ],
    [
      'a kind among several',
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('serial') }),
        z.object({ kind: z.literal('tcp') }),
      ]),
      { kind: 'usb' },
      'x.kind: found "usb"; it has to be one of "serial", "tcp"',
    ],
    ['words of our own', z.number('a number of metres'), 'far', 'x: found "far"; a number of metres'],
  ];
  for (const [what, schema, value, sentence] of cases) {
    it(`names what is allowed: ${what}`, () => {
      expect(said(schema, value)).toBe(sentence);
    });
  }
});
