/**
 * Splits text that arrives in pieces into lines. `reject` is called, and the piece forgotten, when what has arrived
 * of one line is longer than `maxLength`: whoever sends that does not speak this protocol.
 */
export function lineSplitter(
  maxLength: number,
  onLine: (line: string) => void,
  reject: () => void,
): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLength) reject();
    else for (const line of lines) onLine(line);
  };
}
