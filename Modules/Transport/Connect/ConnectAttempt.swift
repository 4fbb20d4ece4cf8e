internal import NIOCore
internal import Synchronization

/// One try to open a connection: the pause before it, its sockets, what it has cost so far. It can be given up at any time.
final class ConnectAttempt: Sendable {
    private struct Pause {
        let timer: Scheduled<Void>
        let end: @Sendable () -> Void
    }

    private struct State {
        var channels: [any Channel] = []
        var pause: Pause?
        var metrics = TransportMetrics()
        var address: SocketAddress?
        var isAborted = false
    }

    let start = Tick.now
    private let state = Mutex(State())

    /// What it has cost so far.
    var metrics: TransportMetrics { state.withLock { $0.metrics } }
    /// Where it got to, if a socket was connected.
    var address: SocketAddress? { state.withLock { $0.address } }

    /// A socket was connected.
    func connected(to address: SocketAddress?, _ metrics: TransportMetrics) {
        state.withLock { state in
            state.metrics = metrics
            state.address = address
        }
    }

    /// Waits before the first socket; `end` is called once, when the time is over or the attempt is given up.
    func pause(for time: Duration, on eventLoop: any EventLoop, end: @escaping @Sendable () -> Void) {
        let timer = eventLoop.scheduleTask(in: TimeAmount(time)) { [self] in endPause() }
        let isAborted = state.withLock { state in
            if !state.isAborted { state.pause = Pause(timer: timer, end: end) }
            return state.isAborted
        }
        guard isAborted else { return }
        timer.cancel()
        end()
    }

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
        endPause()
    }

    private func endPause() {
        let pause = state.withLock { state in
            defer { state.pause = nil }
            return state.pause
        }
        pause?.timer.cancel()
        pause?.end()
    }
}
