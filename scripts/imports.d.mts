export type Graph = Map<string, string[]>;
export const FOLDERS: readonly string[];
export function importsOf(file: string, text: string): string[];
export function wrongDirections(graph: Graph): string[];
export function cycles(graph: Graph): string[][];
export function readGraph(root?: string): Graph;
export function longFiles(graph: Graph, root?: string): string[];
export function strangeFolders(root?: string): string[];
