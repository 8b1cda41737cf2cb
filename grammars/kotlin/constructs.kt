@file:JvmName("Boats")
package org.example.harbour

import kotlin.math.max
import org.example.sea.Wave as SeaWave

const val MAX_BOATS = 12
val (north, south) = 1 to 2
private val tides: Map<String, Int> by lazy { val inner = 1; mapOf("low" to inner) }
typealias Captain = (Boat) -> Unit

/**
 * A boat.
 */
@Serializable
@SerialName(
    "boat"
)
data class Boat<T : Any>(
    val name: String,
    private var speed: Int = 0,
) : Hull(name), Comparable<Boat<T>> by natural() {
    val length: Int get() = 3
    lateinit var crew: List<String>
    var depth = 1
        private set
    init { val local = 1 }
    constructor(name: String, crew: Int) : this(name) { speed = crew }
    override fun compareTo(other: Boat<T>) = 0
    operator fun plus(other: Boat<T>): Boat<T> = this
    suspend inline fun <reified R> sail(crossinline each: (R) -> Unit) { fun steer() {} }
    companion object : Logger by ConsoleLogger() {
        const val NONE = "none"
        @JvmStatic fun of(name: String) = Boat<Any>(name)
    }
    inner class Anchor {
        fun drop() {}
    }
}

class Ferry(box: Box) : Box by box {
    fun load() {}
}

sealed interface Signal {
    object Horn : Signal
    data class Light(val colour: Int) : Signal
}
enum class Wind(val force: Int) {
    CALM(0) { override fun blow() = 0 },
    STORM(10);
    open fun blow() = force
}
fun interface Listener {
    fun hear(signal: Signal)
}
annotation class Tested(val by: String)

fun Boat<*>.rename(to: String): Boat<*> = this
fun <T> List<T>.secondOrNull(): T? = getOrNull(1)
val Boat<*>.isFast: Boolean get() = true
fun String?.orDock(): String = this ?: "dock"
context(log: Logger)
fun moor(boat: Boat<*>) { val rope = 1 }
context(log: Logger) private fun cast(boat: Boat<*>) {}
fun `sails when the wind is up`() {}
object Registry { private val all = mutableListOf<Boat<*>>(); fun add(boat: Boat<*>) { all.add(boat) } }
val onStorm = fun(force: Int): Int { val gust = force; return gust }
