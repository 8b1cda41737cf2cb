// A file that shows every construct the outline knows.
import Foundation
@testable import ShapeKit
import struct Geometry.Point
public import UIKit.UIView

let limit = 1 << 10
public private(set) var counter: Int = 0
let (first, second) = pair()
public typealias Handler<T> = (T, Int) async throws -> Void

/// A shape.
@available(iOS 15, *)
@MainActor
open class Größe<T: Comparable>: Base<T>, Drawable where T: Hashable {
    public static let limit = 3
    @Published private(set) var width: Int = 0
    @Environment(\.colorScheme) var scheme
    weak var delegate: ShapeDelegate?
    lazy var cache: [String: T] = { let inner = 1; return makeCache(inner) }()
    public var area: Double {
        let squared = Double(width * width)
        return squared
    }
    var name: String = "x" {
        willSet { log(newValue) }
        didSet { refresh() }
    }

    public init(width: Int, name: String? = nil) throws {
        self.width = width
    }
    required convenience init?(coder: NSCoder) { return nil }
    deinit { release() }

    @discardableResult
    public override func load<R>(
        _ key: String, // which
        from source: Source<T> = Defaults.source,
        transform: @escaping (T) -> R
    ) async throws -> [R] where R: Codable {
        let local = 1
        func nested(_ a: Int) -> Int { a }
        return try await fetchRemote(key)
    }

    class func make() -> Self { fatalError() }
    @objc private func tapped(_ sender: UIButton) {}

    public subscript(index: Int) -> T {
        get { items[index] }
        set { items[index] = newValue }
    }

    static func == (left: Größe, right: Größe) -> Bool { left.width == right.width }

    struct Options: OptionSet {
        let rawValue: Int
        static let deep = Options(rawValue: 1 << 0)
    }

    private enum CodingKeys: String, CodingKey {
        case width, name = "title"
    }
}

public struct Vector {
    public let x: Double, y: Double
    public mutating func scale(by factor: Double) { x *= factor }
}

indirect enum Event {
    case closed
    case clicked(at: Point, count: Int = 1)
    case nested(Event), other

    var label: String { "x" }
}

public protocol Drawable: AnyObject, Sendable {
    associatedtype Output: Collection
    static var sides: Int { get }
    var frame: CGRect { get set }
    func draw(in context: Context) throws -> Output
    init(frame: CGRect)
    subscript(key: String) -> Output { get }
}

public actor Store {
    private var items: [String: Int] = [:]
    public nonisolated func describe() -> String { "store" }
    public func find(_ key: String) async -> Int? { items[key] }
}

extension Größe: CustomStringConvertible where T: Encodable {
    public var description: String { "größe" }
    func grown() -> Self { self }
}

@propertyWrapper
public struct Clamped<Value: Comparable> {
    public var wrappedValue: Value
    public var projectedValue: Clamped { self }
}

@resultBuilder
enum Builder {
    static func buildBlock(_ parts: Part...) -> [Part] { parts }
}

infix operator **: MultiplicationPrecedence
public func ** (base: Double, power: Double) -> Double { pow(base, power) }

#if os(macOS)
func platform() -> String { "macOS" }
#else
func platform() -> String { "other" }
#endif

@attached(member) public macro AddInit() = #externalMacro(module: "M", type: "AddInit")

final class ShapeTests: XCTestCase {
    func testAdds() { XCTAssertEqual(1, 1) }
    @Test("subtracts") func subtracts() {}
}
