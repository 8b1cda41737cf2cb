// Waiting for what must happen, in the extension host and at the screen alike.

/** Waits until `look` gives something, and gives that. */
exports.until = async (look, what, ms = 20_000) => {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`waited ${ms / 1000} s in vain: ${what}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
};
