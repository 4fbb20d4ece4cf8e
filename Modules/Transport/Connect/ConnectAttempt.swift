internal import NIOCore
internal import Synchronization

/// The sockets of a connection that is being opened, so that it can be given up.
final class ConnectAttempt: Sendable {
    private struct State {
        var channels: [any Channel] = []
        var isAborted = false
    }

    private let state = Mutex(State())

    /// Happy eyeballs may open several.
    func adopt(_ channel: any Channel) {
        let isAborted = state.withLock { state in
            if !state.isAborted { state.channels.append(channel) }
            return state.isAborted
        }
        if isAborted { channel.close(promise: nil) }
    }

    func abort() {
        let channels = state.withLock { state in
            state.isAborted = true
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
