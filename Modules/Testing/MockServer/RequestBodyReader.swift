internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// Reads the body of one request from its connection or stream, and performs its faults.
final class RequestBodyReader: Sendable {
    struct Progress: Sendable {
        var received = 0
        var trailers: HTTPFields?
        var isComplete = false
    }

    private struct State {
        var progress = Progress()
        var hasBegun = false
        /// Bytes beyond the offset of a fault, which were read together with those before it.
        var rest: ByteBuffer?
        /// Sorted by offset.
        var faults: [(offset: Int, effect: MockServer.Fault.Effect)]
        var report: @Sendable (Progress) -> Void = { _ in }
    }

    private let inbound: InboundQueue<RequestPart>
    private let link: any ExchangeLink
    private let sendsContinue: Bool
    private let state: Mutex<State>

    init(
        _ inbound: InboundQueue<RequestPart>, link: any ExchangeLink, faults: [MockServer.Fault],
        sendsContinue: Bool
    ) {
        self.inbound = inbound
        self.link = link
        self.sendsContinue = sendsContinue
        let faults = faults.compactMap { fault in
            fault.trigger.requestBodyOffset.map { (offset: $0, effect: fault.effect) }
        }
        state = Mutex(State(faults: faults.sorted { $0.offset < $1.offset }))
    }

    var progress: Progress { state.withLock { $0.progress } }

    /// Whether reading the body has begun.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Sets the closure that is called when bytes or the end of the body were read.
    func onProgress(_ report: @escaping @Sendable (Progress) -> Void) {
        state.withLock { $0.report = report }
    }

    /// Returns the next bytes; nil at the end.
    func next() async throws -> ByteBuffer? {
        if progress.isComplete { return nil }
        try await begin()
        try await performFaults(upTo: progress.received)
        if let rest = state.withLock({ $0.rest.take() }) { return take(rest) }
        switch try await inbound.next() {
        case .body(let bytes):
            return take(bytes)
        case .end(let trailers):
            try await performFaults(upTo: .max)
            note {
                $0.trailers = trailers
                $0.isComplete = true
            }
            return nil
        case .head, nil:
            throw TestingError(.connectionClosed, "The client closed the connection before its request was complete.")
        }
    }

    /// Reads and discards the rest of the body.
    func drain() async throws {
        while try await next() != nil {}
    }

    private func begin() async throws {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst, sendsContinue else { return }
        try await link.sendContinue()
    }

    /// Takes bytes up to the offset of the next fault.
    private func take(_ bytes: ByteBuffer) -> ByteBuffer {
        var rest = bytes
        let count = state.withLock { state in
            let room = state.faults.first.map { $0.offset - state.progress.received } ?? .max
            return min(room, bytes.readableBytes)
        }
        let taken = rest.readSlice(length: count) ?? bytes
        if rest.readableBytes > 0 { state.withLock { [rest] in $0.rest = rest } }
        note { $0.received += taken.readableBytes }
        return taken
    }

    private func note(_ change: (inout Progress) -> Void) {
        let (report, progress) = state.withLock { state in
            change(&state.progress)
            return (state.report, state.progress)
        }
        report(progress)
    }

    private func performFaults(upTo offset: Int) async throws {
        while let effect = takeFault(upTo: offset) { try await link.perform(effect) }
    }

    private func takeFault(upTo offset: Int) -> MockServer.Fault.Effect? {
        state.withLock { state in
            guard let fault = state.faults.first, fault.offset <= offset else { return nil }
            return state.faults.removeFirst().effect
        }
    }
}
