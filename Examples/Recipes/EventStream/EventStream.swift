import ArgumentParser
import Linnet

/// Prints the server-sent events of a URL. After a lost connection, it continues with the event after the last one.
@main
struct EventStream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-event-stream")

    @Argument(help: "The URL.")
    var url: String

    @Option(help: "End after an event of this type.")
    var until = "end"

    func run() async throws {
        let session = try HTTPSession()
        for try await event in session.get(url).serverSentEvents() {
            print("\(event.type): \(event.data)")
            if event.type == until { break }
        }
        await session.shutdown(.immediate)
    }
}
