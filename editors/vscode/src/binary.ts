// Finds the `strata` binary: the one in the settings, the one bundled with the extension, or the one in the PATH.

import { accessSync, constants, statSync } from 'node:fs';
import * as path from 'node:path';

/** Names of the binary in a folder of the PATH. */
const NAMES =
  process.platform === 'win32'
    ? // The command that npm installs on Windows is a script, which needs a shell. This is the program that it starts.
      ['strata.exe', 'node_modules/strata-context/node_modules/@strata-context/win32-x64/strata.exe']
    : ['strata'];

/** Places to look for the binary. */
export interface Places {
  /** The setting `strata.path`. Empty if it is not set. */
  configured: string;
  /** The folder of the extension. */
  extension: string;
  /** The environment variable `PATH`. */
  searchPath: string;
}

/** Returns the path of the binary. If there is none, throws an error that says what to do. */
export function findBinary({ configured, extension, searchPath }: Places): string {
  if (configured !== '') {
    if (!runs(configured)) {
      throw new Error(`strata.path is set to ${configured}, which is not an executable file.`);
    }
    return configured;
  }
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const places = [path.join(extension, 'server'), ...folders];
  const found = places.flatMap((folder) => NAMES.map((name) => path.join(folder, name))).find(runs);
  if (found === undefined) {
    throw new Error(
      'Strata is not installed. Install strata-context with pip or npm, add the strata program to your PATH, or set strata.path to its location.',
    );
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
