#!/usr/bin/env node
// Runs the program `strata` of this platform, which is in an optional dependency of this package.
'use strict';

const { spawn } = require('node:child_process');

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@strata-context/${platform}/${process.platform === 'win32' ? 'strata.exe' : 'strata'}`);
} catch {
  console.error(
    `strata: the package @strata-context/${platform} is not installed. ` +
      'If the platform is supported, install strata-context again with optional dependencies (npm install --include=optional).',
  );
  process.exit(1);
}

// Registered before the program starts, so that no signal ends this process alone. Terminals send Ctrl-C to both processes; the program
// decides how to react, and this process waits for it.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => child.kill('SIGHUP'));
process.on('SIGTERM', () => child.kill('SIGTERM'));
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(`strata: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal) {
    // End in the same way as the program.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
