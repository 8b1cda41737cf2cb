package org.example.orchard
package trees

import scala.collection.mutable
import org.example.{Basket as Box, Ladder}

/** Picks apples. */
@deprecated(
  "too slow",
  since = "2"
)
abstract class Orchard[+T <: Tree](val rows: Int, protected var name: String = "old")(using Clock)
    extends Field with Open:
  type Fruit
  val (left, right) = (1, 2)
  val first, second = 3
  private lazy val trees: List[T] = { val inner = Nil; inner }
  var count: Int = 0
  def pick(tree: T): Fruit
  def pick(tree: T, times: Int): Fruit = { def once = 1; pick(tree) }
  @tailrec final def walk(row: Int): Unit = if row > 0 then walk(row - 1)
  def +(other: Orchard[?]): Int = 1
  override def toString = "orchard"
  class Row { def length = 1 }

object Orchard:
  val Limit = 12
  def apply(rows: Int): Orchard[Tree] = ???
  given Ordering[Orchard[Tree]] with
    def compare(a: Orchard[Tree], b: Orchard[Tree]) = 0
  implicit class Weighed(val tree: Tree) { def weight = 1 }

trait Open { self: Field =>
  def gate: Gate
  val closed: Boolean
}

enum Season(val warm: Boolean):
  case Spring, Autumn extends Season(false)
  case Summer(days: Int) extends Season(true)
  def next: Season = this

sealed trait Tree
case class Apple(age: Int, height: Double) extends Tree
case object Stump extends Tree

extension (tree: Apple)
  def isOld: Boolean = tree.age > 30
  def grow(by: Int): Apple = tree.copy(age = tree.age + by)

type Picker = Tree => Unit
given clock: Clock = Clock.system
inline def twice[A](inline body: => A): A = { body; body }
val onRipe = (tree: Tree) => { val seen = tree; seen }
def main(args: String*): Unit =
  val local = 1
  args.foreach { arg => val inner = arg; println(inner) }
