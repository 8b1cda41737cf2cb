import { Injectable, Input } from './core';

export type Id = string | number;
export type Shape = { kind: 'box'; size: number; area(): number };
export interface Reader<T> extends Iterable<T> {
  readonly size: number;
  (key: string): T;
  new (size: number): Reader<T>;
  read(at: number): Promise<T>;
  [key: string]: unknown;
}
export enum Tone { Low = 1, High = 'high' }
export const enum Side { Left, Right }
declare const VERSION: string, BUILD: number;
declare function external(name: string): void;
declare module 'paint' {
  export function mix(a: string, b: string): string;
}
declare global {
  interface Window { paint: Shape; }
}
export namespace Colours {
  export const red = '#f00';
  export function blend(a: string): string { return a; }
}

/**
 * Paints a wall.
 */
@Injectable({
  providedIn: 'root',
})
export class Painter<T extends Shape> implements Reader<T> {
  @Input() name: string;
  @Input() brush = 'wide';
  private static count = 0;
  readonly #secret?: number;
  declare size: number;
  constructor(private readonly wall: T, public layers = 2) {}

  @HostListener('window:resize', [
    '$event',
  ])
  onResize(event: Event): void { const width = event; }

  get area(): number { return this.wall.area(); }
  paint(): void;
  paint(layers: number): void;
  paint(layers?: number): void { this.layers = layers ?? 1; }
  dry = async (hours: number): Promise<void> => { await wait(hours); };
}

export abstract class Tool {
  abstract use(times: number): void;
  protected abstract readonly weight: number;
}

export const handlers = {
  onOpen: (id: Id) => id,
  async onClose(id: Id) { return id; },
};
export function parse(text: string): Id;
export function parse(text: number): Id;
export function parse(text: unknown): Id { return text as Id; }
export default function main(this: Window, ...rest: Id[]) {}
const { width, height: tall } = measure<{ width: number; height: number }>();
export const useStore = create<State>()((set) => ({ count: 0, add: () => set(1) }));
router.get('/', async (ctx: Context) => { const body = await ctx.read(); });
export { Tone as Pitch } from './tone';
