// A file that shows every construct the outline knows.
@file:JvmName("Shapes")

package com.example.shapes

import com.example.base.Base
import com.example.util.*
import kotlin.math.max as maximum

const val LIMIT = 1 shl 10
private val registry: Map<String, Shape> by lazy { HashMap() }
var counter = 0
    private set
val String.initial: Char
    get() = this[0]
val (first, second) = pair()

typealias Handler<T> = suspend (T, Int) -> Unit

@Deprecated("use Square")
abstract class Größe<T : Comparable<T>> @Inject constructor(
    private val width: Int,
    val name: String = "x",
    vararg items: T,
) : Base<T>(name), Shape by delegate where T : Any {
    private val cache = mutableMapOf<String, T>()
    override val area: Double
        get() = width * 2.0
    lateinit var owner: Owner
    protected abstract val sides: Int

    init {
        register(this)
    }

    constructor(other: Größe<T>) : this(other.width, other.name)

    override fun describe(): String = "x" + helper(width)

    suspend fun <R> load(key: String, transform: (T) -> R = { Defaults.of(it) }): Result<R> {
        val local = 1
        fun nested(a: Int) = a
        return fetchRemote(key)
    }

    operator fun plus(other: Größe<T>): Größe<T>
        = combine(this, other)

    companion object {
        const val MAX = 3
        @JvmStatic
        fun create(): Größe<Int> = TODO()
    }

    inner class Part(val index: Int)
    private class Hidden
}

data class Point(val x: Double, val y: Double = 0.0)

sealed interface Event {
    data class Clicked(val at: Point) : Event
    data object Closed : Event
}

fun interface Listener {
    fun onEvent(event: Event)
}

enum class Color(val code: String) {
    RED("r"),
    GREEN("g") {
        override fun label() = "G"
    };

    open fun label(): String = code
}

@JvmInline
value class Meters(val value: Double)

annotation class Marker(val name: String)

object Registry : Closeable {
    fun register(shape: Shape) {}
}

inline fun <reified T> List<T>.largest(crossinline by: (T) -> Int): T? = sortedBy(by).lastOrNull()

infix fun Int.pow(exponent: Int): Int {
    return when (exponent) {
        0 -> 1
        else -> this * pow(exponent - 1)
    }
}

internal expect fun platformName(): String

@Test
fun adds() { check(true) }

private val lookup = object : Visitor {
    val depth = 0
    override fun visit(shape: Shape) {}
}
