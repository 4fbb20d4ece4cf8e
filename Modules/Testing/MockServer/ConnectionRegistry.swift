internal import NIOCore
internal import Synchronization

/// The connections of a server, each with the task that serves it.
final class ConnectionRegistry: Sendable {
    private struct State {
        var accepted = 0
        var running: [Int: (connection: ServerConnection, task: Task<Void, Never>)] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var acceptedConnections: Int { state.withLock { $0.accepted } }
    var openConnections: Int { state.withLock { $0.running.count } }
    var connections: [ServerConnection] { state.withLock { $0.running.values.map(\.connection) } }

    func makeIndex() -> Int {
        state.withLock { state in
            defer { state.accepted += 1 }
            return state.accepted
        }
    }

    /// Runs the work in a task that is cancelled when the connection closes.
    func run(_ connection: ServerConnection, _ work: @escaping @Sendable () async -> Void) throws(TestingError) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isClosed else { return nil }
            let task = Task {
                await work()
                // The channel's handlers go in the turn of the event loop after its end, which must not stop before.
                try? await connection.channel.closeFuture.get()
                self.remove(connection)
            }
            state.running[connection.index] = (connection, task)
            return task
        }
        guard let task else { throw TestingError(.shutDown, "The server was shut down.") }
        connection.channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    private func remove(_ connection: ServerConnection) {
        state.withLock { _ = $0.running.removeValue(forKey: connection.index) }
    }

    /// Closes all connections, cancels their tasks, and waits for them.
    func closeAll() async {
        let running = state.withLock { state in
            state.isClosed = true
            return Array(state.running.values)
        }
        for (connection, task) in running {
            task.cancel()
            await connection.abort()
        }
        for (_, task) in running { await task.value }
    }
}
