internal import NIOCore
internal import Synchronization

/// The upgraded connections of a transport, which its shutdown ends.
final class UpgradedConnections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var end: ShutdownMode?
    }

    private let state = Mutex(State())

    /// Adds a connection until it closes, and then calls `closed`. A connection that comes after the shutdown is ended.
    func add(_ channel: any Channel, closed: @escaping @Sendable () -> Void) {
        let id = ObjectIdentifier(channel)
        let mode = state.withLock { state in
            state.open[id] = channel
            return state.end
        }
        channel.closeFuture.whenComplete { [self] _ in
            let removed = state.withLock { $0.open.removeValue(forKey: id) }
            // Released after unlocking, with the handlers of its protocol.
            withExtendedLifetime(removed) {}
            closed()
        }
        if let mode { Self.end(channel, mode) }
    }

    func end(_ mode: ShutdownMode) {
        let open = state.withLock { state in
            state.end = mode
            return Array(state.open.values)
        }
        for channel in open { Self.end(channel, mode) }
    }

    /// Closes a connection, or asks the handlers of its protocol to close it in their way.
    private static func end(_ channel: any Channel, _ mode: ShutdownMode) {
        switch mode {
        case .graceful: channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        case .immediate: channel.close(promise: nil)
        }
    }
}
