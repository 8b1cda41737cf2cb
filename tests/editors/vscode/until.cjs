// Waits for a condition, in the extension host and at the screen.

/** Waits until `look` returns a true value, and returns the value. */
exports.until = async (look, what, ms = 20_000) => {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`timed out after ${ms / 1000} s waiting for: ${what}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
};
