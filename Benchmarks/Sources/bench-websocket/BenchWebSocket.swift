import BenchSupport
import FoundationEssentials
import Linnet
import LinnetWebSocket
import NIOPosix

/// Linnet's WebSockets: each sends a text and waits for its echo. `onloop` runs the tasks on the event loop of their
/// connections.
@main
struct BenchWebSocket {
    /// A WebSocket and the reader of its messages.
    final class Connection: Sendable {
        let socket: WebSocket

        init(_ socket: WebSocket) { self.socket = socket }

        func echo(_ text: String) async throws {
            try await socket.send(text)
            var messages = socket.messages.makeAsyncIterator()
            guard try await messages.next() == .text(text) else { throw Failure("the echo is another message") }
        }
    }

    static func main() {
        runBenchmark { arguments in try await run(arguments) }
    }

    static func run(_ arguments: Arguments) async throws -> Outcome {
        guard arguments.operation == "echo" else { throw Failure("no operation \(arguments.operation)") }
        let isOnLoop = arguments.options["onloop"] != nil
        let http = try HTTPSession(baseURL: URL(string: arguments.base)) {
            if isOnLoop { $0.eventLoops = .group(MultiThreadedEventLoopGroup(numberOfThreads: 1)) }
        }
        let text = String(repeating: "x", count: arguments.bytes)
        var connections: [Connection] = []
        for _ in 0..<arguments.concurrency {
            connections.append(Connection(try await http.get(arguments.path).webSocket()))
        }
        let executors = isOnLoop ? http.taskExecutors : []
        var outcome = try await measureRate(arguments, executors: executors, connections: connections) {
            try await $0.echo(text)
        }
        outcome.unit = "messages/s"
        for connection in connections { try await connection.socket.close() }
        return outcome
    }
}
