internal import Dispatch

/// Lets a session be opened: in the next turn of the main queue, after a second at most, or when the program asks.
struct OpeningGate: Sendable {
    private let opening: AsyncStream<Void>
    private let latch: AsyncStream<Void>.Continuation

    init() { (opening, latch) = AsyncStream.makeStream() }

    /// Begins to wait for the main queue.
    func begin() {
        DispatchQueue.main.async { open() }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(1)) { open() }
    }

    func open() { latch.finish() }

    /// Waits until the session may be opened.
    func wait() async {
        for await _ in opening {}
    }
}
