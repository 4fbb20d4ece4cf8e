internal import NIOCore

/// Writes that wait for others, to go on as one.
struct GatheredWrites {
    /// What was written; the memory serves again after ``clear()``.
    private(set) var bytes = ByteBuffer()
    private var promise: EventLoopPromise<Void>?

    mutating func append(_ more: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        bytes.writeImmutableBuffer(more)
        self.promise.setOrCascade(to: promise)
    }

    /// The promise of all that was written, once.
    mutating func takePromise() -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }

    mutating func clear() {
        bytes.clear()
    }
}
