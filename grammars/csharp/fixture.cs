// A file that shows every construct the outline knows.
#nullable enable
using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.Linq;
global using Strata.Base;
[assembly: InternalsVisibleTo("Tests")]

namespace Strata.Shapes
{
    public delegate void Changed<T>(object sender, T args) where T : EventArgs;

    /// <summary>A shape.</summary>
    [Serializable]
    [JsonConverter(typeof(ShapeConverter), "x")]
    public abstract partial class Größe<T> : Base<T>, IShape where T : class, new()
    {
        public const int Limit = 1 << 10;
        private static readonly ILogger Log = Logging.Create<Größe<T>>(), Other = null;
        protected readonly Dictionary<string, List<T>> items = new();
        int width, height;

        public event EventHandler<Changed>? Resized;
        public event EventHandler Closed { add { } remove { } }

        static Größe() { Registry.Register("größe"); }

        public Größe(int width, [CanBeNull] string? name = null)
            : base(name)
        {
            this.width = width;
        }

        ~Größe() { }

        [JsonProperty("area")]
        public double Area => width * 2.0;
        public int Width { get; private set; } = 3;
        public required string Name { get; init; }
        public string Label
        {
            get { return label; }
            set { label = value; }
        }
        public T this[int index] { get => items[index]; }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public override string ToString() => Describe(width, e => e.Name);

        protected abstract double Compute(
            int depth, // how deep
            params object[] rest);

        public async Task<IEnumerable<R>> LoadAsync<R>(string key, CancellationToken token = default) where R : struct
        {
            var local = FetchRemote(key);
            int Nested(int a) => a;
            return await local.ConfigureAwait(false);
        }

        public static Größe<T> operator +(Größe<T> left, Größe<T> right) => left;
        public static explicit operator int(Größe<T> shape) => shape.width;
        void IDisposable.Dispose() { }

        private sealed class Builder
        {
            private int depth = 3;
        }

        [Flags]
        public enum Kind : byte { Small = 1, Large }
    }

    public interface IShape : IDisposable
    {
        double Area { get; }
        void Grow(int by);
    }

    public readonly struct Point
    {
        public readonly double X, Y;
    }

    public enum Color
    {
        Red,
        [Obsolete] Green = 3,
    }
}

namespace Strata.Records
{
    public record Person(string First, [Positive] int Age);

    public sealed record Employee(string First, int Age, string Company) : Person(First, Age)
    {
        public string Title { get; set; } = "";
    }

    public readonly record struct Pair(int Left, int Right);

    public class Service(ILogger logger, IOptions<Settings> options) : IService
    {
        public void Run() => logger.Log(options);
    }

    public static class Extensions
    {
        public static int Twice(this int value) => value * 2;
    }

    public class ServiceChecks
    {
        [Fact]
        public void Runs() { new Service(null, null).Run(); }

        [Theory, InlineData(1)]
        public void Adds(int by) { }

        [TestCase(1)]
        [TestCase(2)]
        public void Subtracts(int by) { }
    }
}

namespace Strata.FileScoped;

internal static class Loose
{
    private static readonly Visitor Finder = Visitor.Of(node => { int Local() => 1; return Local(); });
}
