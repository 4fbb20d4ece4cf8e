import ExampleSupport
import Linnet

/// Prints server-sent events as they arrive.
struct EventStream {
    let request: RequestRun

    func show(_ call: HTTPCall) async throws -> HTTPResponse.Status {
        let response = try await call.header(.accept, "text/event-stream").bytes()
        request.progress.end()
        try request.printHead(response)
        for try await event in response.body.serverSentEvents() { try StandardStream.output.write(Self.text(event)) }
        return response.status
    }

    /// The event in the format of the stream, without what it does not change.
    static func text(_ event: ServerSentEvent, isTerminal: Bool = StandardStream.output.isTerminal) -> String {
        var lines = event.type == "message" ? [] : ["event: \(event.type)"]
        if !event.lastEventID.isEmpty { lines.append("id: \(event.lastEventID)") }
        lines += event.data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        let text = lines.joined(separator: "\n") + "\n\n"
        return isTerminal ? TerminalText.text(text) : text
    }
}
