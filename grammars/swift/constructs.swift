import Foundation
import struct UIKit.CGFloat

/// A kite.
@MainActor
@available(
    iOS 15, *
)
public final class Kite<Line: Rope>: NSObject, Flyable where Line: Sendable {
    public static let limit = 3, minimum = 1
    @Published var height = 0.0
    @Wrapped(min: 1) private(set) var tail: Int = 2 {
        didSet { let old = oldValue }
    }
    let (left, right) = (1, 2)
    lazy var shadow: Shadow = { let inner = Shadow(); return inner }()
    var area: Double { get { 1 } set { height = newValue } }
    weak var owner: Child?

    public required init?(coder: NSCoder) { fatalError() }
    convenience init(height: Double) { self.init() }
    deinit { cleanup() }

    subscript(index: Int) -> Line? { nil }

    @discardableResult
    @objc(flyHigh:)
    public func fly(_ higher: Double, with wind: Wind = .calm) async throws -> Bool {
        func inner() {}
        let local = 1
        return true
    }
    func fly(_ times: Int) {}
    static func == (lhs: Kite, rhs: Kite) -> Bool { true }
    class func make() -> Kite { Kite(height: 1) }
}

public protocol Flyable: AnyObject {
    associatedtype Line
    var height: Double { get set }
    init(height: Double)
    func fly(_ higher: Double)
}

extension Kite: CustomStringConvertible {
    public var description: String { "kite" }
    func land() {}
    enum Knot { case loose }
}
extension Array where Element == Kite<Cord> {
    func highest() -> Element? { nil }
}

enum Wind: Int, CaseIterable {
    case calm = 0, breeze
    indirect case gust(Wind, force: Int)
    var name: String { "wind" }
}
struct Cord: Rope { var length, weight: Int }
actor Field { var kites: [String] = []; func add(_ kite: String) { kites.append(kite) } }
typealias Pull = (Double) -> Void
func `repeat`(_ times: Int) { let each = { (n: Int) in let seen = n; print(seen) } }
infix operator <~>: AdditionPrecedence
func <~> (a: Int, b: Int) -> Int { a + b }
let home = "field", away = 3
