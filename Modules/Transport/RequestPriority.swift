/// How soon a request gets a connection, compared with others that wait for one: from 0 to 1, the highest first, and
/// among equals in the order in which they came.
///
/// It matters only while there are fewer connections than requests. What runs already is not held back.
public struct RequestPriority: Sendable, Hashable, Comparable, ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral
{
    /// From 0 to 1.
    public let value: Double

    /// 0.25.
    public static let low = RequestPriority(0.25)
    /// 0.5: what a request has unless it says otherwise.
    public static let normal = RequestPriority(0.5)
    /// 0.75.
    public static let high = RequestPriority(0.75)

    /// Makes a priority; what is below 0 counts as 0, what is above 1 as 1, and what is no number as 0.5.
    public init(_ value: Double) {
        self.value = value.isNaN ? 0.5 : min(1, max(0, value))
    }

    /// Makes a priority as ``init(_:)`` does.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Makes a priority as ``init(_:)`` does.
    public init(integerLiteral value: Int) {
        self.init(Double(value))
    }

    /// Whether the first has to wait longer.
    public static func < (first: RequestPriority, second: RequestPriority) -> Bool {
        first.value < second.value
    }
}

/// A request's place among those that wait for a connection.
public struct WaitingPlace: Sendable {
    private let change: @Sendable (RequestPriority) -> Void

    /// Makes a place, given what moves it; for transports of one's own.
    public init(_ change: @escaping @Sendable (RequestPriority) -> Void) {
        self.change = change
    }

    /// Moves the request forwards or backwards. Nothing happens once it waits no more.
    public func setPriority(_ priority: RequestPriority) {
        change(priority)
    }
}
