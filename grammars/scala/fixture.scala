// A file that shows every construct the outline knows, in both dialects.
package com.example
package shapes

import com.example.base.{Base, Helper as H}
import com.example.util.*
import scala.collection.mutable.{Map => MutableMap, _}
import cats.syntax.all._

/** A shape. */
@deprecated("use Square", "2.0")
abstract class Größe[+A <: Ordered[A], B](
    private val width: Int,
    val name: String = "x"
)(implicit ec: ExecutionContext) extends Base[A](name) with Shape with Logging {
  type Key = String
  type Elem <: AnyRef
  private[shapes] val cache: MutableMap[Key, A] = MutableMap.empty
  protected lazy val log = LoggerFactory.getLogger(getClass)
  var owner: Option[Owner] = None
  val sides: Int
  val (first, second) = pair()

  def this(other: Größe[A, B]) = this(other.width, other.name)

  override def toString: String = s"größe ${helper(width)}"

  def area(scale: Double): Double

  @tailrec
  final def load[F[_]: Monad, C](key: Key, transform: A => C = identity)(using store: Store[F]): F[Option[C]] = {
    val local = 1
    def nested(a: Int) = a
    fetchRemote(key).map(transform)
  }

  def +(that: Größe[A, B]): Größe[A, B] = combine(this, that)
  def procedure(x: Int) { println(x) }
}

object Größe extends Companion {
  val Limit = 1 << 10
  final val Max: Int = 3
  def apply(width: Int): Größe[Int, Int] = ???
  implicit val ordering: Ordering[Shape] = Ordering.by(_.area)
  implicit class Ops[A](private val self: A) extends AnyVal {
    def twice: A = self
  }
}

case class Point(x: Double, y: Double = 0.0) extends Shape
case object Origin extends Shape

sealed trait Event extends Product with Serializable
object Event {
  final case class Clicked(at: Point) extends Event
}

package object constants {
  val Zero = 0
}

trait Show[A]:
  extension (a: A)
    def show: String
    def showAll(prefix: String): String = prefix + a.show

enum Color(val code: String):
  case Red extends Color("r")
  case Green extends Color("g")
  case Mixed(left: Color, right: Color) extends Color("m")
  def label: String = code

enum Direction:
  case North, South

given intShow: Show[Int] with
  def show(a: Int): String = a.toString

given Conversion[String, Point] = parsePoint(_)

given [A](using Show[A]): Show[List[A]] with
  def show(a: List[A]): String = ""

opaque type Meters = Double
type Handler[A] = A => Unit

extension (point: Point)
  def length: Double =
    val squared = point.x * point.x
    math.sqrt(squared)

extension [A](items: List[A]) def second: A = items.tail.head

val topLevel: Int = Defaults.value

@main def run(args: String*): Unit = println(args)

transparent inline def platform: String = ${ platformMacro }

private val finder = new Visitor {
  val depth = 0
  def visit(shape: Shape): Unit = ()
}

class ShapeSpec extends AnyFunSuite {
  test("adds") { assert(1 + 1 == 2) }

  @Test def subtracts(): Unit = ()
}
