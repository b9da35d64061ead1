export type Pairs = readonly (readonly [english: string, korean: string])[];
export function koreanBy(pairs: Pairs): (message: string) => string;
