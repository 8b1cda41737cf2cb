// Formats numbers and times for users.

/** Formats a number of tokens briefly: `950`, `12.4k`, `1.2M`. */
export function tokens(count: number): string {
  const short = (value: number, unit: string) => `${value.toFixed(value < 100 ? 1 : 0).replace(/\.0$/, '')}${unit}`;
  if (count < 1000) {
    return String(count);
  }
  return count < 999_500 ? short(count / 1000, 'k') : short(count / 1_000_000, 'M');
}

/** Formats a number in full: `12,400`. */
export function exactly(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a number with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${exactly(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Formats a remaining time: `4:05`, or `1:02:09` from an hour on. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Formats a time in the past: `just now`, `5 min ago`, `3 h ago`, or the date. */
export function since(milliseconds: number, now: number): string {
  const minutes = Math.floor((now - milliseconds) / 60_000);
  if (minutes < 1) {
    return 'just now';
  }
  if (minutes < 60) {
    return `${minutes} min ago`;
  }
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h ago` : new Date(milliseconds).toISOString().slice(0, 10);
}

/** Returns the beginning of a text on one line. */
export function firstWords(text: string, limit = 60): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}
