import Dispatch
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetWebSocket
import Synchronization

/// Sends the lines of standard input over a WebSocket, and prints the messages of the server, one in a line.
///
/// It ends when the server closes the connection. After the end of the input it also ends when no message has come for
/// some seconds.
final class SocketDialog: Sendable {
    private static let patience = Duration.seconds(5)

    private let lastMessage = Mutex(ContinuousClock.now)

    func run(_ call: HTTPCall) async throws -> HTTPResponse.Status {
        let socket = try await call.webSocket()
        let sender = Task {
            for await line in Self.lines() { try await socket.send(line) }
            try await waitForSilence()
            try await socket.close()
        }
        defer { sender.cancel() }
        for try await message in socket.messages {
            lastMessage.withLock { $0 = .now }
            try Self.show(message)
        }
        return socket.response.status
    }

    private func waitForSilence() async throws {
        lastMessage.withLock { $0 = .now }
        while true {
            let end = lastMessage.withLock { $0 } + Self.patience
            guard end > .now else { return }
            try await Task.sleep(until: end)
        }
    }

    /// The lines of standard input, read by a queue of their own, which waits for them.
    private static func lines() -> AsyncStream<String> {
        AsyncStream { lines in
            DispatchQueue(label: "standard input").async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }

    private static func show(_ message: WebSocket.Message) throws {
        switch message {
        case .text(let text):
            try StandardStream.output.write((StandardStream.output.isTerminal ? TerminalText.text(text) : text) + "\n")
        case .binary(let bytes): try StandardStream.output.write("(\(bytes.count) bytes)\n")
        }
    }
}
