import ExampleSupport
import FoundationEssentials
import HTTPTypes
import LinnetJSON
import LinnetTesting
import Synchronization

/// Chooses the response to each request, and prints a line about it.
final class Responder: Sendable {
    private let routes: MockServer.Routes
    private let refused: Refused
    private let isJSON: Bool

    /// Whether a request had no route, or no response was left for it.
    private final class Refused: Sendable {
        let value = Atomic(false)

        func response(_ status: HTTPResponse.Status, _ reason: String) -> MockResponse {
            value.store(true, ordering: .relaxed)
            return .text("linnet-mock: \(reason)\n", status: status)
        }
    }

    init(_ file: RouteFile, in folder: URL, isJSON: Bool) throws(RouteFileError) {
        let refused = Refused()
        var routes = MockServer.Routes()
        for route in file.routes {
            var responses: [MockResponse] = []
            for plan in route.responses { responses.append(try plan.response(in: folder)) }
            routes.on(route.method, route.path, Self.handler(responses, refused))
        }
        self.routes = routes
        self.refused = refused
        self.isJSON = isJSON
    }

    var hasRefused: Bool { refused.value.load(ordering: .relaxed) }

    func answer(_ request: RecordedRequest) async -> MockResponse {
        let response =
            await routes.handler(for: request)?(request)
            ?? refused.response(.notFound, "No route of the file has this method and path.")
        // A program that reads the lines may have ended. The responses are for another one.
        try? print(request, response.status)
        return response
    }

    /// Several responses answer one request each.
    private static func handler(_ responses: [MockResponse], _ refused: Refused) -> MockServer.Handler {
        if responses.count == 1 { return { _ in responses[0] } }
        let sent = Counter()
        return { _ in
            let index = sent.value.add(1, ordering: .relaxed).oldValue
            guard index < responses.count else {
                return refused.response(
                    .internalServerError, "All \(responses.count) responses of the route were sent.")
            }
            return responses[index]
        }
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private func print(_ request: RecordedRequest, _ status: HTTPResponse.Status) throws {
        guard isJSON else {
            let line = "\(request.method.rawValue) \(request.target) -> \(status.code)"
            return try StandardStream.error.write(OneLine.text(line) + "\n")
        }
        let fields = request.headerFields.map { JSONValue.array([.string($0.name.rawName), .string($0.value)]) }
        let object: JSONValue = [
            "method": .string(request.method.rawValue), "target": .string(request.target), "fields": .array(fields),
            "body": .string(request.body.base64EncodedString()), "version": .string(request.httpVersion),
            "connection": .number(JSONNumber(request.connectionIndex)), "status": .number(JSONNumber(status.code)),
        ]
        try StandardStream.output.write(object.data() + Data("\n".utf8))
    }
}
