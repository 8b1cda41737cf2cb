<?php
// A file that shows every construct the outline knows.

declare(strict_types=1);

namespace App\Shapes;

use App\Base\{Base, Contracts\Drawable as Draws};
use Psr\Log\LoggerInterface;
use function App\Support\helper;
use const App\LIMIT;

require_once __DIR__ . '/legacy.php';
include 'config.php';

const VERSION = '1.0', BUILD = 2;
define('ROOT', __DIR__);

/** A shape. */
#[Entity(table: 'shapes')]
abstract class Größe extends Base implements Draws, \Countable
{
    use Loggable, Cacheable { Loggable::log as protected logShape; }

    public const LIMIT = 1 << 10;
    final protected const string NAME = 'größe';

    private static ?self $instance = null;
    protected array $items = [], $others;
    public readonly int $sides;
    public string $label { get => strtoupper($this->label); }
    var $old;

    public function __construct(
        private readonly LoggerInterface $logger,
        #[SensitiveParameter] protected ?string $name = null,
        int ...$rest,
    ) {
        $this->width = helper($rest);
    }

    #[\Override]
    public function __toString(): string
    {
        $local = fn (int $a): int => $a + Config::DEFAULT_SIZE;
        return $this->describe($local);
    }

    abstract protected function area(): float|int;

    #[Pure, Deprecated('no')]
    public static function &create(array $options = ['a' => 1]): static
    {
        return new class($options) extends Base {
            public int $hidden = 1;
            public function hide(): void {}
        };
    }
}

interface Shape extends Drawable, \JsonSerializable
{
    const SIDES = 4;

    public function grow(int $by): void;
}

trait Loggable
{
    private int $level = 1;

    protected function log(string $text): void { Writer::write($text); }
}

final readonly class Point
{
    public function __construct(public float $x = 0.0, public float $y = 0.0) {}
}

enum Color: string implements HasLabel
{
    case Red = 'r';
    #[Label('Green')]
    case Green = 'g';

    const DEFAULT = self::Red;

    public function label(): string { return ucfirst($this->value); }
}

function area_of(Point $point, float $scale = 1.0): float
{
    static $calls = 0;
    return shape_area($point, LIMIT) * $scale;
}

if (!function_exists('polyfill')) {
    function polyfill(callable $callback): ?array { return null; }
}

class ShapeChecks extends TestCase
{
    public function testAdds(): void { $this->assertSame(1, (new Point())->x); }

    /** @test */
    #[Test]
    public function it_subtracts(): void {}
}

$app = new Application();

it('multiplies', function () { expect(1)->toBe(1); });
test('divides', fn () => true);
