<?php

declare(strict_types=1);

namespace Example\Post;

use Example\Stamp;
use Example\{Box, Letter as Mail};
use function Example\weigh;

const MAX_WEIGHT = 20, MIN_WEIGHT = 1;
define('OFFICE', 'north');

/** Sorts parcels. */
#[Service(
    name: 'sorter',
)]
#[Tagged]
abstract class Sorter extends Machine implements Countable, \IteratorAggregate
{
    use Logs, Counts { Logs::write as protected note; }

    public const FAST = 1, SLOW = 2;
    final protected const string KIND = 'sorter';
    public int $left = 0, $right;
    private static ?self $instance = null;
    #[Inject] protected readonly Stamp $stamp;
    public string $title { get => 'x'; set(string $value) { $this->title = $value; } }

    public function __construct(
        private readonly Box $box,
        protected int $speed = 3,
    ) {
        $local = 1;
    }

    public static function instance(): static { return self::$instance; }
    abstract protected function sort(Mail ...$letters): array;

    #[Route(
        '/count',
    )]
    public function count(): int
    {
        $each = function ($x) { $inner = $x; return $inner; };
        function nested() {}
        return fn($y) => $y;
    }
    public function &byRef(array &$all) { return $all; }
}

interface Countable { public const ONE = 1; public function count(): int; }
trait Logs { private array $lines = []; public function write(string $line): void {} }

enum Size: string implements HasLabel
{
    case Small = 's';
    case Large = 'l';
    const DEFAULT = self::Small;
    public static function of(int $grams): self { return self::Small; }
    public function label(): string { return ucfirst($this->value); }
}

final readonly class Parcel { public function __construct(public int $grams) {} }

function post(Parcel $parcel, callable $done = null): ?bool
{
    static $count = 0;
    return true;
}

$handler = function (int $times) use ($handler): void { $seen = $times; };
$router->get('/parcels', function ($request) { $id = $request->id; return $id; });
return new class extends Sorter { public function sort(Mail ...$letters): array { return []; } };
