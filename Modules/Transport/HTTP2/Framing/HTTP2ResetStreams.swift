internal import NIOCore

/// The streams that we have reset last: what a server sent before it knew is no error (RFC 9113, 5.1).
struct HTTP2ResetStreams {
    /// A server may be sending on all streams that we reset in a moment.
    private static let mostRemembered = 1_000

    private var numbers: Set<Int> = []
    private var order = CircularBuffer<Int>()

    mutating func insert(_ number: Int) {
        guard numbers.insert(number).inserted else { return }
        order.append(number)
        if order.count > Self.mostRemembered, let oldest = order.popFirst() { numbers.remove(oldest) }
    }

    func contains(_ number: Int) -> Bool { numbers.contains(number) }
}
