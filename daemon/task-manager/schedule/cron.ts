/** Cron patterns on local time. croner reads them and finds what comes next; zones are not its business here. */
import { Cron } from 'croner';
import { errorText } from '../../../config/contracts/errors.js';
import type { LocalRule } from './types.js';

/** A pattern of five fields. Throws `RangeError` that says what is wrong with it. */
export function cronRule(pattern: string): LocalRule {
  const cron = parse(pattern);
  return {
    next(fromLocal) {
      const next = cron.nextRun(new Date(Math.ceil(fromLocal / 1000) * 1000 - 1000));
      return next === null ? null : next.getTime();
    },
  };
}

function parse(pattern: string): Cron {
  try {
    // `utcOffset: 0` makes it read the local time that stands in the date's UTC fields. Without a function it never runs.
    return new Cron(pattern, { mode: '5-part', utcOffset: 0 });
  } catch (error) {
    throw new RangeError(errorText(error).replace(/^CronPattern: /, ''));
  }
}
