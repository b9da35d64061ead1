/**
 * Opens a console address in headless Chromium and saves a picture. Arguments: address, file, then any of
 * `phone`, `dark`, `en`, `full`, `wait=MS`, `press=ID`. Console errors and blocked resources end it with code 1.
 */
import { chromium } from 'playwright-core';

const [address = '', file = '', ...options] = process.argv.slice(2);
const has = (name: string) => options.includes(name);
const value = (name: string) => options.find((o) => o.startsWith(`${name}=`))?.slice(name.length + 1);

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({
  viewport: has('phone') ? { width: 390, height: 844 } : { width: 1440, height: 900 },
  deviceScaleFactor: has('phone') ? 2 : 1,
  colorScheme: has('dark') ? 'dark' : 'light',
  locale: has('en') ? 'en-GB' : 'ko-KR',
});
const problems: string[] = [];
page.on('console', (m) => {
  if (m.type() === 'error' || m.type() === 'warning') problems.push(m.text());
});
page.on('pageerror', (error) => problems.push(String(error)));
await page.goto(address);
await page.waitForTimeout(Number(value('wait') ?? 3500));
const pressed = value('press');
if (pressed !== undefined) {
  await page.click(pressed);
  await page.waitForTimeout(600);
}
await page.screenshot({ path: file, fullPage: has('full') });
const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
if (width !== 0) problems.push(`the page is ${String(width)} px wider than the window`);
await browser.close();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
