'use strict';
const path = require('path');
const { join, resolve: toFull } = require('path');
const { port = 80, host: address, ...others } = loadConfig();
const [first, second] = [1, 2];
let open = true, closed = false;

/** A shop that sells by weight. */
class Shop {
  #till = 0;
  static count = 0;
  names = ['a'];
  handle = (event) => { const seen = event; return seen; };
  constructor(owner) {
    this.owner = owner;
  }
  get total() { return this.#till; }
  set total(value) { this.#till = value; }
  static of(owner) { return new Shop(owner); }
  async *visits() { yield 1; }
  'quoted name'() {}
  static { const setup = 1; }
}

function Scale(max) {
  this.max = max;
  this.weigh = function (thing) { return thing; };
}
Scale.prototype.read = function read() { return this.max; };
Scale.prototype.reset = () => 0;
Scale.of = function (max) { return new Scale(max); };

function Box() {}
Box.prototype = {
  lid: true,
  open() { return this.lid; },
  close: function () { return false; },
};

const routes = {
  index: () => 'home',
  async detail(id) { return id; },
  'not-found': function () { return 404; },
  admin: {
    users: (page) => page,
    limit: 10,
  },
  limit: 3,
};

app.get('/', (request, response) => {
  const user = request.user;
  function answer() { return user; }
  response.send(answer());
});

const debounce = (wait) => (callback) => setTimeout(callback, wait);
const memo = once(() => { const cache = new Map(); return cache; });

module.exports = {
  list: () => 1,
  Shop,
  remove: async function (id) { return id; },
};
module.exports.extra = function () {};
exports.helper = (a) => a;
exports.Model = class { save() {} };
export const answer = 42, question = '?';
export function* numbers() { yield 1; }
