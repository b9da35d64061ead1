/** The page in a real browser. Without Chromium these tests are skipped, visibly. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { createApi } from '../../../daemon/api/api.js';
import type { MethodSpec } from '../../../executors/method.js';
import { type Served, serve } from '../../support/api/serve.js';
import { taskEvent } from '../../support/api/work.js';

const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name)))
  .find((path) => existsSync(path));

const PHONE = { width: 390, height: 844 };

describe.skipIf(executablePath === undefined)('the console in a browser', () => {
  let browser: Browser;
  let served: Served;
  let page: Page;
  let problems: string[];
  let moving: NodeJS.Timeout;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    served = await serve({ clock: new SystemClock() });
    problems = [];
    moving = setInterval(keepFresh, 100);
  });
  afterEach(async () => {
    clearInterval(moving);
    await page.context().close();
    await served.stop();
    expect(problems).toEqual([]);
  });

  /** A robot that reports, as the motion process does. */
  function keepFresh(): void {
    const { robot } = served.runtime;
    if (robot === null) return;
    const now = Date.now();
    Object.assign(robot, { at: now, poseAt: now });
    robot.base.lastFrameAt = now;
    robot.lidar.lastScanAt = now;
    if (robot.base.battery !== null) robot.base.battery.at = now;
  }

  async function open(options: BrowserContextOptions = {}): Promise<void> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'ko-KR',
      reducedMotion: 'reduce',
      ...options,
    });
    page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(served.api.consoleAddress() ?? '');
    await page.waitForSelector('#link[data-state="live"]');
    await page.waitForSelector('.tile:nth-of-type(6)');
  }

  /** What the page shows comes over a socket and may take a moment on a busy machine. */
  const SOON = { timeout: 15_000 };
  const text = async (selector: string) => (await page.locator(selector).textContent()) ?? '';
  /** Runs in the page. */
  const inPage = <T>(code: string) => page.evaluate(code) as Promise<T>;
  const tile = (n: number) => text(`.tile:nth-of-type(${n})`);

  it('shows where the robot is, what it does, and the proof of what it did', async () => {
    await open();
    await expect.poll(() => text('#now-title'), SOON).toBe('안방으로 이동');
    await expect.poll(() => tile(1), SOON).toContain('83%');
    await expect.poll(() => tile(2), SOON).toContain('떨어져 있음');
    await expect.poll(() => tile(3), SOON).toContain('거실');
    await expect.poll(() => tile(4), SOON).toContain('정상');
    await expect.poll(() => tile(5), SOON).toContain('나쁨');
    await expect.poll(() => tile(6), SOON).toContain('연결됨');
    const states = await page
      .locator('.step')
      .evaluateAll((all) => all.map((s) => s.getAttribute('data-state')));
    expect(states).toEqual(['COMPLETED', 'COMPLETED', 'RUNNING', 'WAITING', 'PENDING', 'PENDING']);
    await page.locator('.step details summary').nth(1).click();
    await expect.poll(() => text('.step details[open] .evidence'), SOON).toContain('movement.arrived');
    expect(await page.title()).toBe('da-sim · DeviceAgent');
    expect(page.url()).not.toContain('code=');
  });

  it('draws the map: walls, rooms, scan, path and robot in their colours', async () => {
    await open();
    const colours = await inPage<{ different: number; accent: boolean; scan: boolean }>(`(() => {
      const canvas = document.querySelector('canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 4).join());
      return { different: seen.size, accent: seen.has('15,118,110,255'), scan: seen.has('217,72,15,255') };
    })()`);
    expect(colours.different).toBeGreaterThan(50);
    expect(colours.accent).toBe(true);
    expect(colours.scan).toBe(true);
  });

  it('draws a scan from where the robot was when it was taken', async () => {
    await open();
    const robot = { pose: { x: 1, y: 2, theta: 0 }, twist: { v: 0, w: 1 }, pose_at_ms: 1000 };
    const then = (atMs: number) =>
      inPage(`import('/model.js').then((m) => m.poseThen(${JSON.stringify(robot)}, ${atMs}))`);
    expect(await then(700)).toEqual({ x: 1, y: 2, theta: -0.3 });
    expect(await then(-5000)).toEqual(robot.pose);
  });

  it('says why in the language of the reader, and beside it what the robot said, without ids', async () => {
    const id = 't-01M8Q0MW43N0QAZV51GPQ149YM';
    const [first] = served.runtime.taskRecords.filter((t) => t.taskId === 't-old');
    if (first === undefined) throw new Error('the sample has no such task');
    const message = `setMoveTo ${id} took its place`;
    served.runtime.taskRecords = [
      { ...first, taskId: id, reasonCode: null, message: null },
      { ...first, method: 'startCleaning', params: {}, reasonCode: 'PREEMPTED', message },
    ];
    await open();
    await expect.poll(() => text('.task .reason'), SOON).toContain('더 급한 작업에 밀렸어요');
    expect(await text('.task .reason [lang="ko"]')).toBe(' · “주방으로 이동”에 자리를 내주었어요');
  });

  it('marks the words of the robot that it has no Korean for as English', async () => {
    const [first] = served.runtime.taskRecords;
    if (first === undefined) throw new Error('the sample has no task');
    served.runtime.taskRecords = [{ ...first, reasonCode: 'HARDWARE_FAULT', message: 'a word of 거실' }];
    await open();
    await expect.poll(() => text('.task .reason [lang="en"]'), SOON).toBe(' · a word of 거실');
  });

  it('keeps the latest task in sight below the map', async () => {
    await open();
    await page.waitForSelector('.task');
    const task = await page.locator('.task').first().boundingBox();
    expect((task?.y ?? 900) + (task?.height ?? 0)).toBeLessThanOrEqual(900);
  });

  it('fills its card with the map where the tiles beside it are taller', async () => {
    await open({ viewport: { width: 1366, height: 700 } });
    const [card, go] = [await page.locator('.map').boundingBox(), await page.locator('.go').boundingBox()];
    if (card === null || go === null) throw new Error('nothing is shown');
    expect(card.y + card.height - (go.y + go.height)).toBeLessThan(30);
  });

  it('calls the unknown unknown', async () => {
    served.runtime.robot = null;
    served.runtime.air = { pm2_5: null, source_state: 'warming_up' };
    await open();
    for (const n of [1, 2, 3, 4]) await expect.poll(() => tile(n), SOON).toContain('모름');
    await expect.poll(() => tile(5), SOON).toContain('센서 예열 중');
    await expect.poll(() => text('#stage-note'), SOON).toBe('로봇의 위치를 몰라요');
  });

  it('shows old positions as old, and says how old', async () => {
    await open();
    clearInterval(moving);
    await page.waitForSelector('#stage[data-stale="true"]');
    await expect.poll(() => text('#stage-note'), SOON).toMatch(/^위치 정보가 \d+(\.\d)?초 전 것이에요$/);
    await expect.poll(() => tile(3), SOON).toMatch(/초 전/);
  });

  it('says that the connection is lost when the daemon goes, and goes on when it is back', async () => {
    await open();
    await served.api.stop();
    await page.waitForSelector('#link[data-state="stale"], #link[data-state="lost"]');
    await expect.poll(() => text('#link'), SOON).toMatch(/전 정보$/);
    const again = createApi(served.runtime, { tcp: { port: served.port } });
    await again.start();
    await page.waitForSelector('#link[data-state="live"]', { timeout: 20_000 });
    served.runtime.append('events/task', taskEvent({ event: 'COMPLETED', step_id: 's2' }));
    await page.waitForSelector('.event:first-child:has-text("#8")', { timeout: 20_000 });
    await page.goto('about:blank');
    await again.stop();
    // The browser reports each failed attempt to connect; that is what this test is about.
    problems.length = 0;
  });

  it('stops the robot with one press, and asks before it is released', async () => {
    await open();
    await page.click('#estop');
    await page.waitForSelector('#alarm:not([hidden])');
    expect(served.runtime.estops).toEqual(['console']);
    await expect.poll(() => text('#alarm'), SOON).toContain('콘솔에서 누름');
    expect(await page.isEnabled('#estop')).toBe(true);
    await page.click('#release');
    await expect.poll(() => text('#ask'), SOON).toContain('비상 정지를 해제할까요?');
    await page.click('#ask-yes');
    await page.waitForSelector('#alarm', { state: 'hidden' });
    expect(served.runtime.robot?.safety.estop.latched).toBe(false);
  });

  describe('driving by hand', () => {
    const heard = () => served.runtime.held;
    const pressedNow = () =>
      served.runtime.handled.filter(({ raw }) => JSON.stringify(raw).includes('manualMove'));

    beforeEach(async () => {
      served.runtime.methods.push({ ...(served.runtime.methods[0] as MethodSpec), name: 'manualMove' });
      await open();
      await page.waitForSelector('#drive:not([hidden])');
    });

    it('drives while a button is held, with a sign of life ten times a second, and lets go with it', async () => {
      await page.locator('#drive-forward').scrollIntoViewIfNeeded();
      await page.hover('#drive-forward');
      await page.mouse.down();
      await expect
        .poll(() => heard().filter((one) => one.startsWith('keep')).length, SOON)
        .toBeGreaterThan(3);
      expect(pressedNow()[0]).toMatchObject({
        raw: { method: 'manualMove', params: { v: 0.2, w: 0 }, task: { executionMode: 'IMMEDIATE' } },
        principal: { source: 'APP', name: 'console' },
      });
      await page.mouse.up();
      await expect.poll(() => heard().at(-1), SOON).toMatch(/^release /);
      expect(pressedNow()).toHaveLength(1);
    });

    it.each([
      ['the window loses the focus', "window.dispatchEvent(new Event('blur'))"],
      ['the focus goes elsewhere', "document.querySelector('#estop').focus()"],
      ['the page is left', "window.dispatchEvent(new Event('pagehide'))"],
    ])('drives by the arrow keys, and lets go when %s', async (_name, code) => {
      await page.focus('#drive-forward');
      await page.keyboard.down('ArrowLeft');
      await expect.poll(() => pressedNow().length, SOON).toBe(1);
      expect(pressedNow()[0]).toMatchObject({ raw: { params: { v: 0, w: 0.8 } } });
      await inPage(code);
      await expect.poll(() => heard().at(-1), SOON).toMatch(/^release /);
    });
  });

  it('sends the robot to a room after asking, through the one gate', async () => {
    await open();
    await page.click('[data-key="room-4"]');
    await expect.poll(() => text('#ask-title'), SOON).toBe('안방으로 보낼까요?');
    await page.click('#ask-no');
    expect(served.runtime.handled).toEqual([]);
    await page.click('[data-key="room-4"]');
    await page.click('#ask-yes');
    await page.waitForSelector('.toast');
    expect(served.runtime.handled).toMatchObject([
      {
        raw: { kind: 'task', method: 'setMoveTo', params: { positionId: '4' } },
        principal: { source: 'APP' },
      },
    ]);
  });

  it('says why something is refused', async () => {
    served.runtime.refuse.set('returnToStation', { reason: 'LOW_BATTERY', message: '8 %' });
    await open();
    await page.click('[data-key="home"]');
    await expect.poll(() => text('.toast'), SOON).toContain('배터리가 부족해요');
    // The browser itself reports the refused request.
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('pauses and cancels a workflow', async () => {
    await open();
    await page.click('[data-key="wf-1-pause"]');
    await page.click('[data-key="wf-1-cancel"]');
    await page.click('#ask-yes');
    await page.waitForTimeout(200);
    expect(served.runtime.handled.map((h) => (h.raw as { method: string }).method)).toEqual([
      'pauseWorkflow',
      'cancelWorkflow',
    ]);
  });

  it('follows events as they happen, and tells screen readers how things ended', async () => {
    await open();
    served.runtime.append('events/task', taskEvent({ event: 'COMPLETED', step_id: 's2' }));
    await page.waitForSelector('.event:first-child:has-text("#8"):has-text("안방으로 이동")');
    await page.waitForFunction(`document.querySelector('#announce').textContent === '안방으로 이동: 완료'`);
  });

  it('keeps opened evidence open and the focus where it was while things change', async () => {
    await open();
    await page.locator('.step details summary').first().click();
    served.runtime.append('events/task', taskEvent({ event: 'WORKFLOW_STEP_WAITING', step_id: 's3' }));
    await page.waitForSelector('.event:first-child:has-text("#8")');
    expect(await page.locator('.step details[open]').count()).toBe(1);
    expect(await inPage('document.activeElement?.tagName')).toBe('SUMMARY');
  });

  it('never takes text from outside for markup', async () => {
    const [workflow] = served.runtime.workflowRecords;
    const evil = '<img src=x onerror="document.title=1">';
    if (workflow !== undefined) workflow.goal = evil;
    if (served.runtime.mapView?.rooms[0] !== undefined) served.runtime.mapView.rooms[0].name = evil;
    await open();
    await expect.poll(() => text('.flow h3'), SOON).toBe(evil);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toBe('da-sim · DeviceAgent');
  });

  it('speaks Korean and English, and remembers which', async () => {
    await open();
    await page.click('#language');
    await expect.poll(() => text('#now-title'), SOON).toBe('Go to 안방');
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    await page.reload();
    await page.waitForSelector('#link[data-state="live"]');
    await expect.poll(() => text('#work-title'), SOON).toBe('Workflow');
  });

  it('has the same sentences in both languages', async () => {
    await open();
    const missing = await inPage<string[]>(`(async () => {
      const ko = Object.keys((await import('/strings-ko.js')).ko);
      const en = Object.keys((await import('/strings-en.js')).en);
      return [...ko.filter((k) => !en.includes(k)), ...en.filter((k) => !ko.includes(k))];
    })()`);
    expect(missing).toEqual([]);
  });

  it('works from the keyboard: skip link, map keys, dialog', async () => {
    await open();
    await page.keyboard.press('Tab');
    expect(await inPage('document.activeElement?.className')).toBe('skip');
    await page.focus('#canvas');
    const before = await inPage("document.querySelector('canvas')?.toDataURL()");
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('+');
    await page.waitForTimeout(100);
    expect(await inPage("document.querySelector('canvas')?.toDataURL()")).not.toBe(before);
    expect(await inPage('scrollY')).toBe(0);
    await page.focus('[data-key="room-2"]');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await page.isVisible('#ask')).toBe(false);
    expect(served.runtime.handled).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no barrier that axe finds, ${colorScheme}`, async () => {
      await open({ colorScheme });
      const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      await page.evaluate(source);
      const violations = await page.evaluate(
        `axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).join(', ')))`,
      );
      expect(violations).toEqual([]);
    });
  }

  it('fits a phone: nothing sticks out, and the stop is under the thumb', async () => {
    await open({ viewport: PHONE, hasTouch: true, isMobile: true });
    expect(await inPage('document.documentElement.scrollWidth')).toBe(PHONE.width);
    expect(await page.isVisible('#estop')).toBe(false);
    const box = await page.locator('#estop-bar').boundingBox();
    expect(box?.width).toBeGreaterThan(300);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(PHONE.height - 40);
    await page.tap('#estop-bar');
    await page.waitForSelector('#alarm:not([hidden])');
    expect(served.runtime.estops).toEqual(['console']);
  });

  it('says so when the session has ended', async () => {
    await open();
    await page.context().clearCookies();
    await page.waitForSelector('.signed-out', { timeout: 10_000 });
    await expect.poll(() => text('.signed-out'), SOON).toContain('deviceagent console');
    problems.length = 0;
  });
});
