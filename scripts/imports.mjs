// The rule of the folders: dependencies point one way, and no module reaches itself through others.
//   daemon → executors → state-machines → drivers;  config is read by all and reads none of them;
//   simulator reads only config/contracts, and only tests and daemon/cli read it.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Lines of one file, in the product. */
const LONGEST = 450;

export const FOLDERS = ['config', 'daemon', 'drivers', 'executors', 'simulator', 'state-machines', 'test'];

const MAY_IMPORT = {
  config: ['config'],
  drivers: ['drivers', 'config'],
  'state-machines': ['state-machines', 'drivers', 'config'],
  executors: ['executors', 'state-machines', 'drivers', 'config'],
  daemon: ['daemon', 'executors', 'state-machines', 'drivers', 'config'],
  simulator: ['simulator', 'config'],
  test: [...FOLDERS, 'scripts'],
};

const IMPORT =
  /(?:^|[\s;])(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g;

/** The relative imports of one TypeScript source, resolved to repository paths of `.ts` files. */
export function importsOf(file, text) {
  const found = [];
  for (const match of stripComments(text).matchAll(IMPORT)) {
    const target = match[1] ?? match[2];
    if (target?.startsWith('.')) found.push(posix.join(posix.dirname(file), target).replace(/\.js$/, '.ts'));
  }
  return [...new Set(found)];
}

function stripComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** One sentence for each import that reaches the wrong way. `graph`: file → imported files. */
export function wrongDirections(graph) {
  const problems = [];
  for (const [file, targets] of graph) {
    const from = file.split('/')[0];
    for (const target of targets) {
      const to = target.split('/')[0];
      if (allowed(file, from, target, to)) continue;
      problems.push(
        `${file} imports ${target}: ${from}/ may import only ${(MAY_IMPORT[from] ?? []).join(', ')}`,
      );
    }
  }
  return problems;
}

function allowed(file, from, target, to) {
  if (from === 'simulator' && to === 'config') return target.startsWith('config/contracts/');
  if (to === 'simulator' && file.startsWith('daemon/cli/')) return true;
  return MAY_IMPORT[from]?.includes(to) ?? false;
}

/** Each import cycle once, as a list of files. */
export function cycles(graph) {
  const found = [];
  const state = new Map();
  const stack = [];
  const visit = (file) => {
    state.set(file, 'open');
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (state.get(target) === 'open') found.push([...stack.slice(stack.indexOf(target)), target]);
      else if (!state.has(target)) visit(target);
    }
    stack.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return found;
}

/** Reads the import graph of the tree below `root`. */
export function readGraph(root = '.') {
  const graph = new Map();
  const walk = (dir) => {
    for (const entry of readdirSync(join(root, dir), { withFileTypes: true })) {
      const path = `${dir}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else if (path.endsWith('.ts')) graph.set(path, importsOf(path, readFileSync(join(root, path), 'utf8')));
    }
  };
  for (const folder of FOLDERS) walk(folder);
  return graph;
}

/** Product files so long that they hold more than one thing. */
export function longFiles(graph, root = '.') {
  return [...graph.keys()]
    .filter((file) => !file.startsWith('test/'))
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > LONGEST)
    .map(({ file, lines }) => `${file} has ${lines} lines: at most ${LONGEST}, and seldom more than 400`);
}

/** Folders at the top that do not belong there. */
export function strangeFolders(root = '.') {
  const known = new Set([...FOLDERS, 'docs', 'scripts', 'node_modules', 'dist', 'coverage']);
  return readdirSync(root, { withFileTypes: true })
    .filter((e) => e.isDirectory() && !e.name.startsWith('.') && !known.has(e.name))
    .map((e) => e.name);
}
