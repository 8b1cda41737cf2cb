import type { Config } from "./config";
import legacy = require("legacy");

export interface Shape<T = unknown> extends Base {
  readonly id: string;
  area?: number;
  grow(by: number): void;
  (call: string): T;
}

export type Name = string | { first: string; last: string };
export type Options = {
  deep: { er: boolean };
  run(): void;
};
export enum Color { Red, Green = "green" }
declare module "ambient" { export function ambient(x: number): string; }
export namespace Tools { export const version = 1; }
declare const GLOBAL: Config;

export abstract class Store<K, V> implements Shape {
  private readonly items: Map<K, V> = new Map();
  static limit = 3;
  handler = (event: Event): void => { this.last = event; };
  constructor(private readonly config: Config, protected name?: string) {}
  abstract load(key: K): Promise<V>;
  protected async find(key: K, fallback: V = this.make(), ...rest: string[]): Promise<V | undefined> {
    const local = this.items.get(key);
    return local ?? fallback;
  }
}

@Component({ selector: "app", template: "<p>a very long template</p>" })
export class Größe {
  @Input() width: number;
  @Output()
  grow(): void {}
}

export function pick(a: string): string;
export function pick(a: any): any { return a; }
export const double = <T,>(x: T): T => x;

it("works", () => {});
