// Finds the `strata` binary: the one the user named, the one that came with the extension, or the one in the PATH.
// It starts nothing.

import { accessSync, constants, statSync } from 'node:fs';
import * as path from 'node:path';

const NAME = process.platform === 'win32' ? 'strata.exe' : 'strata';

/** Where to look. */
export interface Places {
  /** The setting `strata.path`; empty when it is not set. */
  configured: string;
  /** The folder of the extension. */
  extension: string;
  /** The environment variable `PATH`. */
  searchPath: string;
}

/** The path of the binary. Throws an error that says what to do if there is none. */
export function findBinary({ configured, extension, searchPath }: Places): string {
  if (configured !== '') {
    if (!runs(configured)) {
      throw new Error(`strata.path is set to ${configured}, which is not an executable file.`);
    }
    return configured;
  }
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const found = [path.join(extension, 'server'), ...folders].map((folder) => path.join(folder, NAME)).find(runs);
  if (found === undefined) {
    throw new Error('Strata is not installed. Add the strata program to your PATH, or set strata.path to its location.');
  }
  return found;
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
