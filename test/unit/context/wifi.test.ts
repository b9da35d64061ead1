import { describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { hostWifi, parseWireless } from '../../../daemon/context/wifi.js';

const HEADER = `Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
 face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
`;
const WLAN0 = ' wlan0: 0000   54.  -56.  -256        0      0      0      0      5        0\n';

describe('the Wi-Fi state of a Linux host', () => {
  it('is the signal of its wireless interface', () => {
    expect(parseWireless(`${HEADER}${WLAN0}`)).toEqual({ interface: 'wlan0', signal_dbm: -56 });
  });

  it('is unknown in other units than dBm, never a number that means something else', () => {
    const percent = ' wlp2s0: 0000   70   65   0        0      0      0      0      0        0\n';
    expect(parseWireless(`${HEADER}${percent}`)).toEqual({ interface: 'wlp2s0', signal_dbm: null });
  });

  it('is null without an interface, or without such a file', () => {
    expect(parseWireless(HEADER)).toBeNull();
    const missing = () => {
      throw new Error('ENOENT');
    };
    expect(hostWifi(new SimClock(0), missing)()).toBeNull();
  });

  it('is looked at anew after some seconds, not at every question', () => {
    const clock = new SimClock(0);
    let text = `${HEADER}${WLAN0}`;
    const wifi = hostWifi(clock, () => text);
    expect(wifi()).not.toBeNull();
    text = HEADER;
    expect(wifi()).not.toBeNull();
    clock.advance(5000);
    expect(wifi()).toBeNull();
  });
});
