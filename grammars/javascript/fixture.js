#!/usr/bin/env node
import fs, { readFile as read } from "node:fs";
import * as path from './path.js';
const legacy = require("legacy-module");
export { shared } from "./shared.js";

export const LIMIT = 10, OTHER = "x";
let counter;
var old = function (a, b) { return a + b; };

export default class Größe extends Base.Shape {
  #secret = 1;
  static count = 0;
  handler = (event) => { this.last = event; };

  constructor(width, { height = 2, ...rest } = {}) {
    super(width);
    this.width = width;
    this.height = height;
  }

  get area() { return this.width * this.height; }

  static async *walk(root, /* how deep */ depth = 3) {
    const inner = (x) => x;
    function helper() {}
    yield* inner(root);
  }
}

export async function load(file, options = { encoding: "utf8" }) {
  const text = await read(path.resolve(file), options);
  return legacy.parse(text);
}

export const parse = async (text) => JSON.parse(text);
function* numbers() { yield counter; }

Größe.prototype.grow = function (by) { this.width += by; };

(function () {
  function wrapped() {}
})();

describe("größe", () => {
  it("has an area", () => {});
  test("grows", () => {});
});
