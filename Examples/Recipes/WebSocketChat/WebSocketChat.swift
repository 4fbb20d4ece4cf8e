import ArgumentParser
import Linnet
import LinnetWebSocket

/// Sends each line of standard input as a message, and prints the messages of the server.
@main
struct WebSocketChat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-websocket-chat")

    @Argument(help: "The URL, with https or http.")
    var url: String

    func run() async throws {
        let session = try HTTPSession()
        let chat = try await session.get(url).webSocket()
        let reader = Task {
            for try await message in chat.messages {
                guard case .text(let text) = message else { continue }
                print(text)
                if text == "bye" { break }
            }
        }
        while let line = readLine() { try await chat.send(line) }
        // The server says "bye" when it has answered all.
        try await reader.value
        let closure = try await chat.close()
        print("closed: \(closure.code)")
        await session.shutdown()
    }
}
