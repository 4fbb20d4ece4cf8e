import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTransport
import Testing

@testable import LinnetSession

extension Flight {
    /// A flight that no engine has begun.
    static func test(
        _ url: String = "http://a.test/a", _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
        body: HTTPRequestBody? = nil
    ) throws -> Flight {
        Flight(
            SessionRequest(url: try #require(URL(string: url)), method: method, headerFields: fields, body: body))
    }
}

extension StreamedResponse {
    static func test(
        _ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:], at url: String = "http://a.test/a",
        attempts: Int = 1
    ) throws -> StreamedResponse {
        StreamedResponse(
            url: try #require(URL(string: url)), head: HTTPResponse(status: status, headerFields: fields),
            metrics: Array(repeating: TransportMetrics(), count: attempts))
    }
}

extension ChainStep {
    var proceeds: Bool { if case .proceed = self { true } else { false } }

    /// The request that the step sends down, be it the first time or once more.
    var request: SessionRequest? {
        switch self {
        case .change(let request), .again(let request, _, _): request
        case .retry(let attempt, _): attempt.request
        case .proceed, .end, .read, .ask: nil
        }
    }

    var repeats: Bool {
        switch self {
        case .again, .retry: true
        default: false
        }
    }

    var question: ChainQuestion? { if case .ask(let question) = self { question } else { nil } }
}
