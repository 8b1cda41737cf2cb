// Where the parts of a previewed prompt begin and end, by its headings and cache marks. It reads nothing inside fences:
// those hold files.

/** A part with a heading; lines count from 0. */
export interface Part {
  title: string;
  depth: number;
  first: number;
  last: number;
}

/** A cache mark. */
export interface Mark {
  line: number;
  says: string;
}

/** The parts and marks of a preview. */
export function partsOf(text: string): { parts: Part[]; marks: Mark[] } {
  const lines = text.split(/\r?\n/);
  const parts: Part[] = [];
  const marks: Mark[] = [];
  const open: Part[] = [];
  let fence: string | undefined;
  const close = (depth: number, last: number) => {
    while ((open.at(-1)?.depth ?? 0) >= depth) {
      const part = open.pop();
      if (part !== undefined) {
        part.last = last;
      }
    }
  };
  lines.forEach((line, at) => {
    const ticks = /^(`{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (ticks !== undefined && ticks.length >= fence.length && line.trim() === ticks) {
        fence = undefined;
      }
      return;
    }
    if (ticks !== undefined) {
      fence = ticks;
      return;
    }
    const mark = /^<!-- cache breakpoint: (.*) -->$/.exec(line)?.[1];
    if (mark !== undefined) {
      marks.push({ line: at, says: mark });
    }
    const [, hashes, title] = /^(#{1,2}) (.+)$/.exec(line) ?? [];
    if (hashes !== undefined && title !== undefined) {
      // `# [2] User` is a message; every other heading stands inside of one.
      const depth = /^\[\d+\] /.test(title) ? 1 : hashes.length + 1;
      close(depth, at - 1);
      const part = { title, depth, first: at, last: at };
      open.push(part);
      parts.push(part);
    }
  });
  close(1, lines.length - 1);
  return { parts, marks };
}
