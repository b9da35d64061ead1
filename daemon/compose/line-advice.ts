/** Which wire is wrong: what a builder does about a serial line that does not work, in Korean and in English. */
import type { LineFinding } from '../../config/contracts/amr.js';
import type { PortConfig } from '../../config/schema.js';

export interface Words {
  ko: string;
  en: string;
}

export interface LineInQuestion {
  /** Key of the profile: `base`, `lidar`. */
  key: string;
  chip: string;
  port: PortConfig;
  finding: LineFinding;
  /** Names below /dev/serial/by-id, with what each stands for. */
  byId: readonly { name: string; device: string }[];
  /** A baud rate at which frames of the chip were heard, when that was tried. */
  otherBaud?: number | null;
}

const CHIPS: Readonly<Record<string, { name: string; part: Words; baud: number; asks: boolean }>> = {
  create2: { name: 'Create 2', part: { ko: '구동부', en: 'base' }, baud: 115_200, asks: true },
  kobuki: { name: 'Kobuki', part: { ko: '구동부', en: 'base' }, baud: 115_200, asks: false },
  ld19: { name: 'LD19', part: { ko: '라이다', en: 'lidar' }, baud: 230_400, asks: false },
  rplidar_a1: { name: 'RPLIDAR A1', part: { ko: '라이다', en: 'lidar' }, baud: 115_200, asks: true },
  zphs01b: { name: 'ZPHS01B', part: { ko: '공기 센서', en: 'air sensor' }, baud: 9600, asks: true },
};

export function lineAdvice(line: LineInQuestion): Words {
  const { finding, key, chip, port } = line;
  const where = placeOf(port);
  const opening = openingAdvice(line, where);
  if (opening !== null) return opening;
  const own = CHIPS[chip];
  const heard = CHIPS[finding.heard];
  if (line.otherBaud != null) {
    return {
      ko: `${where}의 속도가 틀려요. ${line.otherBaud}에서 ${own?.name ?? chip}의 소식이 들려요: ${key}.port.baud_rate를 ${line.otherBaud}로 하세요`,
      en: `the baud rate of ${where} is wrong: ${own?.name ?? chip} is heard at ${line.otherBaud}; set ${key}.port.baud_rate to ${line.otherBaud}`,
    };
  }
  if (heard !== undefined && finding.heard !== chip) {
    return {
      ko: `${where}에는 ${heard.part.ko}(${heard.name})가 꽂혀 있어요. 두 포트를 서로 바꾸거나 ${key}.driver와 ${key}.port를 맞추세요`,
      en: `the ${heard.part.en} (${heard.name}) is on ${where}: swap the two ports, or correct ${key}.port and ${key}.driver`,
    };
  }
  if (finding.heard === 'garbled' || finding.heard === chip) {
    const set = port.kind === 'serial' ? port.baud_rate : null;
    const right = own?.baud ?? null;
    if (set !== null && right !== null && set !== right) {
      return {
        ko: `${where}에서 알 수 없는 바이트만 와요. 속도가 ${set}인데 ${own?.name ?? chip}은(는) ${right}이에요: ${key}.port.baud_rate를 고치세요`,
        en: `bytes without a frame come in on ${where}: it is set to ${set} baud, and ${own?.name ?? chip} speaks ${right}; correct ${key}.port.baud_rate`,
      };
    }
    return {
      ko: `${where}에서 알 수 없는 바이트만 와요. 접지선, 전압(3.3 V/5 V), 속도를 확인하고, 다른 장치가 꽂힌 것은 아닌지 보세요`,
      en: `bytes without a frame come in on ${where}: check the ground wire, the level (3.3 V or 5 V) and the baud rate, and that it is this device`,
    };
  }
  return silence(where, own?.asks === true);
}

/** Nothing at all is heard. */
function silence(where: string, asks: boolean): Words {
  if (!asks) {
    return {
      ko: `${where}에서 아무것도 들리지 않아요. 전원이 켜졌는지, 장치의 TX가 어댑터의 RX에 꽂혔는지 보세요`,
      en: `nothing is heard on ${where}: is it powered, and does its TX go to the adapter's RX?`,
    };
  }
  return {
    ko: `${where}에서 물어도 답이 없어요. 전원을 확인하고, TX와 RX가 서로 엇갈려 꽂혔는지(TX→RX, RX→TX) 보세요`,
    en: `it does not answer on ${where}: check its power, and that TX and RX are crossed (TX to RX, RX to TX)`,
  };
}

/** The port could not even be opened. */
function openingAdvice({ finding: { reason }, key, byId }: LineInQuestion, where: string): Words | null {
  if (/no such device/i.test(reason)) {
    const names = byId.map(({ name, device }) => `/dev/serial/by-id/${name} (${device})`).join(', ');
    return byId.length === 0
      ? {
          ko: `장치 ${where}이(가) 없고, 꽂힌 직렬 장치가 하나도 없어요. USB 케이블과 전원을 확인하세요`,
          en: `there is no device ${where}, and no serial device at all is plugged in: check the USB cable and its power`,
        }
      : {
          ko: `장치 ${where}이(가) 없어요. 지금 꽂힌 것: ${names}. ${key}.port.path를 그 이름으로 하세요`,
          en: `there is no device ${where}; plugged in are: ${names}; set ${key}.port.path to one of these names`,
        };
  }
  if (/permission denied/i.test(reason)) {
    return {
      ko: `${where}을(를) 열 권한이 없어요: sudo usermod -aG dialout $USER 를 실행하고 다시 로그인하세요`,
      en: `no permission to open ${where}: run sudo usermod -aG dialout $USER, then log in again`,
    };
  }
  if (/in use by another process/i.test(reason)) {
    return {
      ko: `${where}을(를) 다른 프로그램이 쓰고 있어요: fuser ${where} 로 찾으세요`,
      en: `another program uses ${where}: find it with fuser ${where}`,
    };
  }
  if (/not a serial port/i.test(reason)) {
    return {
      ko: `${where}은(는) 직렬 포트가 아니에요. ${key}.port.path를 확인하세요`,
      en: `${where} is not a serial port: check ${key}.port.path`,
    };
  }
  if (/cannot be opened|did not open|refused|unreachable/i.test(reason)) {
    return { ko: `${where}을(를) 열 수 없어요: ${reason}`, en: `${where} cannot be opened: ${reason}` };
  }
  return null;
}

function placeOf(port: PortConfig): string {
  if (port.kind === 'serial') return port.path;
  return port.kind === 'tcp' ? `${port.host}:${port.port}` : port.name;
}
