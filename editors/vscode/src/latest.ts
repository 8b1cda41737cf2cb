// A set that forgets what was put into it longest ago. It knows nothing of the editor.

export class Latest<Value> {
  private readonly values = new Set<Value>();

  /** Holds no more than `most` values. */
  constructor(private readonly most: number) {}

  add(value: Value): void {
    this.values.delete(value);
    this.values.add(value);
    for (const oldest of this.values) {
      if (this.values.size <= this.most) {
        break;
      }
      this.values.delete(oldest);
    }
  }

  has(value: Value): boolean {
    return this.values.has(value);
  }
}
