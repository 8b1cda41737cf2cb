using System;
using System.Collections.Generic;
using Alias = System.Text.StringBuilder;

var lamp = new Lamp(3);
int Brighten(int by) => by * 2;
static async Task<int> WaitAsync(Lamp lamp)
{
    int inner = 1;
    void Nested() { }
    return inner;
}
Console.WriteLine(Brighten(2));

namespace Lights
{
    public delegate void Switched(object sender, int level);

    /// <summary>A lamp.</summary>
    [Serializable]
    [Described(
        "lamp",
        Bright = true)]
    public partial class Lamp : Device, IDisposable
    {
        public const int Max = 9, Min = 1;
        private static readonly string[] Names = { "a" };
        private int level, colour = 2;
        public event Switched OnSwitch, OffSwitch;
        public event EventHandler Broken { add { } remove { } }
        [Range(0, 9)] public int Level { get; set; } = 1;
        public string Name => "lamp";
        public int this[int at] { get => at; set { level = value; } }
        private Action<int> callback = (x) => { int seen = x; };

        static Lamp() { }
        public Lamp(int level) : base(level) { this.level = level; }
        ~Lamp() { }

        public void Dispose() { }
        void IDisposable.Dispose() { }
        public T Read<T>(T value) where T : struct { return value; }
        public T Read<T>(T value, int times) => value;
        public static Lamp operator +(Lamp a, Lamp b) => a;
        public static explicit operator int(Lamp lamp) => lamp.level;

        private class Wire { internal int Length; }
    }

    public partial class Lamp
    {
        public async IAsyncEnumerable<int> BlinkAsync() { yield return 1; }
    }

    public interface IShade { int Width { get; } void Turn(int by = 1); }
    public enum Tone : byte { Warm = 1, Cold }
    public readonly record struct Point(int X, int Y) { public int Sum() => X + Y; }
    public record Room(string Name);
    public struct Size { public int Width, Height; }

    public static class LampExtensions
    {
        public static bool IsBright(this Lamp lamp) => lamp.Level > 5;
    }
}
